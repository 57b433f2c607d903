// How upstreams are: who is left out of pools, why, and until when; how quickly turns begin; the sessions that upstreams keep.
import { useEffect, useState } from 'preact/hooks';
import { Badge, Button, Choice, Empty, Problem, usePolling } from '../../components/basics';
import { get } from '../../lib/api';
import { visible } from '../../lib/bytes';
import { clock, count, duration, plural } from '../../lib/format';
import { go, type Row } from '../../store';

interface Upstream {
  name: string;
  wire: string;
  url?: string;
  state: string;
  trouble?: string;
  reason?: string;
  next_try_ms?: number;
  limited_for_ms?: number;
  failures_in_a_row: number;
  in_flight: number;
  queued: number;
  requests: number;
  failures: number;
  first_token_ms?: number;
}

const tone = (upstream: Upstream) => (upstream.trouble ? 'bad' : upstream.limited_for_ms || upstream.failures_in_a_row > 0 ? 'warn' : 'good');

export function UpstreamsView() {
  const [rows, set_rows] = useState<Upstream[] | null>(null);
  const [fault, set_fault] = useState('');
  usePolling(
    async () => {
      try {
        set_rows((await get<{ data: Upstream[] }>('/v1/upstreams')).data);
        set_fault('');
      } catch (error) {
        set_fault((error as Error).message);
      }
    },
    2000,
    [],
  );
  if (rows === null) return <Problem text={fault} />;
  const out = rows.filter((row) => row.trouble).length;
  return (
    <>
      <Problem text={fault} />
      <p class="count" role="status">
        {plural(rows.length, 'upstream')}, {out === 0 ? 'none is left out' : `${out} left out of ${out === 1 ? 'its' : 'their'} pools`}
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Upstreams">
        <table>
          <thead>
            <tr>
              {['Upstream', 'State', 'In flight', 'Queued', 'Requests', 'Failures', 'First token', 'Why'].map((title, index) => (
                <th key={title} scope="col" class={index > 1 && index < 7 ? 'number' : ''}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" title={row.url ?? row.wire}>
                  {visible(row.name)}
                </th>
                <td>
                  <Badge tone={tone(row)}>{row.state}</Badge>
                </td>
                <td class="number">{row.in_flight}</td>
                <td class="number">{row.queued}</td>
                <td class="number">{count(row.requests)}</td>
                <td class="number">{count(row.failures)}</td>
                <td class="number">{duration(row.first_token_ms)}</td>
                <td>
                  {row.reason ? visible(row.reason) : ''}
                  {row.trouble ? ` Tried again in ${duration(row.next_try_ms)}.` : ''}
                  {row.limited_for_ms ? ` Limited for ${duration(row.limited_for_ms)}.` : ''}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const percentile = (sorted: number[], part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

interface Slot {
  begin: number;
  median: number;
  high: number;
  turns: number;
}

// Turns in at most 24 slots of equal length, oldest first; a slot without turns is left out.
export function slots_of(rows: Row[], measure: 'first_token_ms' | 'total_ms'): Slot[] {
  const known = rows.filter((row) => typeof row[measure] === 'number').map((row) => ({ at: Date.parse(row.received_at), ms: Number(row[measure]) }));
  if (known.length === 0) return [];
  const begin = Math.min(...known.map((turn) => turn.at));
  const size = Math.max(1000, (Math.max(...known.map((turn) => turn.at)) - begin + 1) / 24);
  const groups = new Map<number, number[]>();
  for (const turn of known) {
    const slot = Math.floor((turn.at - begin) / size);
    groups.set(slot, [...(groups.get(slot) ?? []), turn.ms]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([slot, all]) => {
    const sorted = all.sort((a, b) => a - b);
    return { begin: begin + slot * size, median: percentile(sorted, 0.5), high: percentile(sorted, 0.95), turns: sorted.length };
  });
}

function LatencyChart({ rows, measure, title }: { rows: Row[]; measure: 'first_token_ms' | 'total_ms'; title: string }) {
  const slots = slots_of(rows, measure);
  const highest = Math.max(1, ...slots.map((slot) => slot.high));
  // Slots of a few seconds have names with seconds.
  const quick = slots.length > 1 && slots[1].begin - slots[0].begin < 60_000;
  const at = (slot: Slot) => clock(new Date(slot.begin).toISOString()).slice(0, quick ? 8 : 5);
  const said = slots.map((slot) => `${at(slot)} ${duration(slot.median)}, 95 % within ${duration(slot.high)}`).join('; ');
  return (
    <figure class="chart" role="img" aria-label={`${title}, median and 95th percentile: ${said}`}>
      <figcaption>
        {title} <strong>{duration(highest)}</strong>
      </figcaption>
      <div class="bars" aria-hidden="true">
        {slots.map((slot) => (
          <span key={slot.begin} class="bar-slot" title={`${at(slot)}: median ${duration(slot.median)}, 95 % within ${duration(slot.high)}, ${plural(slot.turns, 'turn')}`}>
            <span class="bar-pair" style={{ height: `${(100 * slot.high) / highest}%` }}>
              <span class="bar-fill" style={{ height: `${(100 * slot.median) / Math.max(1, slot.high)}%` }} />
            </span>
            <span class="bar-name">{at(slot)}</span>
          </span>
        ))}
      </div>
    </figure>
  );
}

export function LatencyView() {
  const [since, set_since] = useState('24h');
  const [rows, set_rows] = useState<Row[] | null>(null);
  const [fault, set_fault] = useState('');
  useEffect(() => {
    get<{ data: Row[] }>(`/v1/requests?since=${since}&limit=500`).then(
      (page) => {
        set_rows(page.data.filter((row) => row.state === 'completed'));
        set_fault('');
      },
      (error) => set_fault(error.message),
    );
  }, [since]);
  return (
    <>
      <div class="form">
        <Choice label="Since" value={since} set={set_since} options={[{ value: '15m', title: '15 minutes' }, { value: '2h', title: '2 hours' }, { value: '24h', title: '24 hours' }, { value: '7d', title: '7 days' }]} />
      </div>
      <Problem text={fault} />
      {rows?.length === 0 && <Empty title="Nothing in that time" />}
      {rows && rows.length > 0 && (
        <>
          <p class="count">{plural(rows.length, 'turn')}, of the latest 500. Filled: the median. Outlined: 95 of 100 turns.</p>
          <div class="charts">
            <LatencyChart rows={rows} measure="first_token_ms" title="Time to first token" />
            <LatencyChart rows={rows} measure="total_ms" title="Whole turn" />
          </div>
        </>
      )}
    </>
  );
}

interface Session {
  id: string;
  key: string | null;
  upstream: string;
  model: string;
  name: string | null;
  turns: number;
  created_at: string;
  last_used_at: string;
  answers?: { request: string }[];
}

export function SessionsView() {
  const [rows, set_rows] = useState<Session[] | null>(null);
  const [fault, set_fault] = useState('');
  useEffect(() => {
    get<{ data: Session[] }>('/v1/sessions?limit=100').then((page) => set_rows(page.data), (error) => set_fault(error.message));
  }, []);
  const open = async (id: string) => {
    const session = await get<Session>(`/v1/sessions/${encodeURIComponent(id)}`);
    const last = session.answers?.at(-1)?.request;
    if (last) go('turn', last);
  };
  if (rows === null) return <Problem text={fault} />;
  if (rows.length === 0) {
    return (
      <Empty title="No sessions">
        <p>Upstreams that keep conversations themselves have sessions. Conversations of tool loops are read by their name: GET /v1/conversations/NAME.</p>
      </Empty>
    );
  }
  return (
    <>
      <Problem text={fault} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Sessions">
        <table>
          <thead>
            <tr>
              {['Session', 'Model', 'Upstream', 'Key', 'Turns', 'Last used', ''].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <th scope="row">{visible(row.name ?? row.id)}</th>
                <td>{visible(row.model)}</td>
                <td>{visible(row.upstream)}</td>
                <td>{visible(row.key ?? '')}</td>
                <td class="number">{row.turns}</td>
                <td>{visible(row.last_used_at)}</td>
                <td>
                  <Button onClick={() => void open(row.id).catch((error) => set_fault(error.message))}>Last turn</Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
