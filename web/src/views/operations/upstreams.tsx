// How upstreams are: who is left out of pools, why, and until when; how quickly turns begin and end.
import { useEffect, useState } from 'preact/hooks';
import { Badge, Choice, Empty, Problem, usePolling } from '../../components/basics';
import { Columns, Ranking, type Slot } from '../../components/chart';
import { get } from '../../lib/api';
import { visible } from '../../lib/bytes';
import { clock, count, duration, plural } from '../../lib/format';
import type { Row } from '../../store';

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
        <table class="wide-last stack">
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
                <td class="number" data-title="In flight">{row.in_flight}</td>
                <td class="number" data-title="Queued">{row.queued}</td>
                <td class="number" data-title="Requests">{count(row.requests)}</td>
                <td class="number" data-title="Failures">{count(row.failures)}</td>
                <td class="number" data-title="First token">
                  {duration(row.first_token_ms)}
                </td>
                <td>
                  {row.reason ? `${visible(row.reason)}.` : ''}
                  {row.trouble ? (row.next_try_ms ? ` Tried again in ${duration(row.next_try_ms)}.` : ' Tried again with the next request.') : ''}
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

// Turns in at most 24 slots of equal length, oldest first; a slot without turns is empty.
export function slots_of(rows: Row[], measure: 'first_token_ms' | 'total_ms'): Slot[] {
  const known = rows.filter((row) => typeof row[measure] === 'number').map((row) => ({ at: Date.parse(row.received_at), ms: Number(row[measure]) }));
  if (known.length === 0) return [];
  const begin = Math.min(...known.map((turn) => turn.at));
  const size = Math.max(1000, (Math.max(...known.map((turn) => turn.at)) - begin + 1) / 24);
  const groups: number[][] = Array.from({ length: 24 }, () => []);
  for (const turn of known) groups[Math.floor((turn.at - begin) / size)].push(turn.ms);
  // Slots of a few seconds have names with seconds.
  const digits = size < 60_000 ? 8 : 5;
  return groups.map((all, slot) => {
    const sorted = all.sort((a, b) => a - b);
    const at = clock(new Date(begin + slot * size).toISOString()).slice(0, digits);
    return { name: at, short: at, value: percentile(sorted, 0.5), high: percentile(sorted, 0.95) };
  });
}

// Turns of one model, key or upstream.
export function groups_of(rows: Row[], measure: 'first_token_ms' | 'total_ms', group: 'model' | 'key' | 'upstream'): Slot[] {
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    if (typeof row[measure] !== 'number') continue;
    const name = row[group] || 'none';
    groups.set(name, [...(groups.get(name) ?? []), Number(row[measure])]);
  }
  return [...groups].map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    return { name, short: name, value: percentile(sorted, 0.5), high: percentile(sorted, 0.95) };
  });
}

type Group = 'time' | 'model' | 'key' | 'upstream';

function LatencyChart({ rows, measure, group, title }: { rows: Row[]; measure: 'first_token_ms' | 'total_ms'; group: Group; title: string }) {
  const slots = group === 'time' ? slots_of(rows, measure) : groups_of(rows, measure, group);
  const known = rows.map((row) => row[measure]).filter((ms): ms is number => typeof ms === 'number').sort((a, b) => a - b);
  const Chart = group === 'time' ? Columns : Ranking;
  return <Chart title={`${title}, median and 95th percentile`} note={duration(percentile(known, 0.5))} slots={slots} format={duration} />;
}

export function LatencyView() {
  const [since, set_since] = useState('24h');
  const [group, set_group] = useState<Group>('time');
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
        <Choice label="By" value={group} set={(value) => set_group(value as Group)} options={['time', 'model', 'key', 'upstream']} />
        <Choice label="Since" value={since} set={set_since} options={[{ value: '15m', title: '15 minutes' }, { value: '2h', title: '2 hours' }, { value: '24h', title: '24 hours' }, { value: '7d', title: '7 days' }]} />
      </div>
      <Problem text={fault} />
      {rows?.length === 0 && <Empty title="Nothing in that time" />}
      {rows && rows.length > 0 && (
        <>
          <p class="count">{plural(rows.length, 'turn')}, of the latest 500. Filled: the median. Pale: 95 of 100 turns.</p>
          <div class="charts two-charts">
            <LatencyChart rows={rows} measure="first_token_ms" group={group} title="Time to first token" />
            <LatencyChart rows={rows} measure="total_ms" group={group} title="Whole turn" />
          </div>
        </>
      )}
    </>
  );
}
