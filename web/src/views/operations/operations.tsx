// Usage, upstreams, latency, the log, sessions, and the configuration in force.
import { useEffect, useState } from 'preact/hooks';
import { Badge, Button, Choice, Empty, Facts, Input, Panel, Problem, Tabs } from '../../components/basics';
import { ask, get } from '../../lib/api';
import { bytes_text, visible } from '../../lib/bytes';
import { count, plural } from '../../lib/format';
import { facts, type Row } from '../../store';
import { TurnTable } from '../live/live';
import { LatencyView, SessionsView, UpstreamsView } from './upstreams';

interface Usage {
  group: string;
  requests: number;
  failed: number;
  tool_calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
}

const measures: { id: keyof Usage; title: string }[] = [
  { id: 'requests', title: 'Requests' },
  { id: 'failed', title: 'Failed' },
  { id: 'tool_calls', title: 'Tool calls' },
  { id: 'prompt_tokens', title: 'Prompt tokens' },
  { id: 'completion_tokens', title: 'Completion tokens' },
];

// 2026-11-18T04:00:00Z is 04:00, 2026-11-18 is 11-18.
const short = (group: string) => /^\d{4}-\d\d-\d\dT(\d\d:\d\d)/.exec(group)?.[1] ?? /^\d{4}-(\d\d-\d\d)$/.exec(group)?.[1] ?? group;

function Bars({ rows, measure, title }: { rows: Usage[]; measure: keyof Usage; title: string }) {
  const highest = Math.max(1, ...rows.map((row) => Number(row[measure])));
  const total = rows.reduce((sum, row) => sum + Number(row[measure]), 0);
  return (
    <figure class="chart" role="img" aria-label={`${title}: ${count(total)} in all; ${rows.slice(0, 12).map((row) => `${row.group} ${row[measure]}`).join(', ')}`}>
      <figcaption>
        {title} <strong>{count(total)}</strong>
      </figcaption>
      <div class="bars" aria-hidden="true">
        {rows.map((row) => (
          <span key={row.group} class="bar-slot" title={`${visible(row.group)}: ${row[measure]}`}>
            <span class={`bar-fill ${measure === 'failed' ? 'bad' : ''}`} style={{ height: `${(100 * Number(row[measure])) / highest}%` }} />
            <span class="bar-name">{visible(short(row.group))}</span>
          </span>
        ))}
      </div>
    </figure>
  );
}

function UsageView() {
  const [group, set_group] = useState('hour');
  const [since, set_since] = useState('24h');
  const [rows, set_rows] = useState<Usage[] | null>(null);
  const [stats, set_stats] = useState<any>(null);
  const [fault, set_fault] = useState('');
  useEffect(() => {
    const load = async () => {
      const answer = await get<{ data: Usage[] }>(`/v1/usage?group=${group}&since=${since}`);
      set_rows(answer.data);
      set_stats(await get('/v1/stats'));
    };
    load().then(() => set_fault(''), (error) => set_fault(error.message));
  }, [group, since]);
  return (
    <>
      <div class="form">
        <Choice label="By" value={group} set={set_group} options={['hour', 'day', 'model', 'key']} />
        <Choice label="Since" value={since} set={set_since} options={[{ value: '2h', title: '2 hours' }, { value: '24h', title: '24 hours' }, { value: '7d', title: '7 days' }, { value: '30d', title: '30 days' }]} />
      </div>
      <Problem text={fault} />
      {rows?.length === 0 && <Empty title="Nothing in that time" />}
      {rows && rows.length > 0 && (
        <>
          <div class="charts">
            {measures.map((measure) => (
              <Bars key={measure.id} rows={rows} measure={measure.id} title={measure.title} />
            ))}
          </div>
          <div class="scroll" tabIndex={0} role="region" aria-label="Usage as a table">
            <table>
              <thead>
                <tr>
                  <th scope="col">{group}</th>
                  {measures.map((measure) => (
                    <th key={measure.id} scope="col" class="number">
                      {measure.title}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.group}>
                    <th scope="row">{visible(row.group)}</th>
                    {measures.map((measure) => (
                      <td key={measure.id} class="number">
                        {Number(row[measure.id]).toLocaleString('en')}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
      {stats && (
        <Facts
          items={[
            ['Store', stats.engine],
            ['Rows', count(stats.requests)],
            ['Size', bytes_text(stats.bytes)],
            ['Since', stats.oldest_at],
            ['Writer', stats.writer.healthy ? <Badge tone="good">healthy</Badge> : <Badge tone="bad">{stats.writer.problem}</Badge>],
            ['Queued', stats.writer.queued],
            ['Dropped', stats.writer.dropped],
          ]}
        />
      )}
    </>
  );
}

const any = { value: '', title: 'any' };

function LogView() {
  const [wanted, set_wanted] = useState<Record<string, string>>({ since: '24h' });
  const [rows, set_rows] = useState<Row[]>([]);
  const [cursor, set_cursor] = useState<string | null>(null);
  const [fault, set_fault] = useState('');
  const [busy, set_busy] = useState(false);
  const set = (name: string) => (value: string) => set_wanted({ ...wanted, [name]: value });
  const load = async (after: string | null) => {
    set_busy(true);
    const query = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
    query.set('limit', '100');
    if (after) query.set('cursor', after);
    try {
      const page = await get<{ data: Row[]; next_cursor: string | null }>(`/v1/requests?${query}`);
      set_rows(after ? [...rows, ...page.data] : page.data);
      set_cursor(page.next_cursor);
      set_fault('');
    } catch (error) {
      set_fault((error as Error).message);
    }
    set_busy(false);
  };
  useEffect(() => void load(null), []);
  return (
    <>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void load(null);
        }}
      >
        <Input label="Words" value={wanted.text ?? ''} set={set('text')} placeholder="in question or answer" />
        <Input label="Since" value={wanted.since ?? ''} set={set('since')} placeholder="2h, 7d, 2026-11-16" />
        <Choice label="Model" value={wanted.model ?? ''} set={set('model')} options={[any, ...(facts.value?.models ?? [])]} />
        <Choice label="State" value={wanted.state ?? ''} set={set('state')} options={[any, 'running', 'completed', 'failed', 'disconnected', 'interrupted']} />
        <Choice label="Finish" value={wanted.finish_reason ?? ''} set={set('finish_reason')} options={[any, 'stop', 'tool_calls', 'length', 'content_filter', 'upstream_error']} />
        <Choice label="Missed call" value={wanted.missed_call ?? ''} set={set('missed_call')} options={[any, 'true', 'false']} />
        <Choice label="Error" value={wanted.error ?? ''} set={set('error')} options={[any, 'true', 'false']} />
        <Input label="Tool" value={wanted.tool ?? ''} set={set('tool')} placeholder="a call of that name" />
        <Input label="Key" value={wanted.key ?? ''} set={set('key')} />
        <Input label="Session" value={wanted.session ?? ''} set={set('session')} />
        <Button type="submit" kind="primary" disabled={busy}>
          Search
        </Button>
      </form>
      <Problem text={fault} />
      {rows.length === 0 ? (
        <Empty title={busy ? 'Searching …' : 'Nothing found'} />
      ) : (
        <>
          <p class="count">
            {plural(rows.length, 'row')}
            {cursor && (
              <>
                {', '}
                <Button onClick={() => load(cursor)} disabled={busy}>
                  Load more
                </Button>
              </>
            )}
          </p>
          <div class="log-table">
            <TurnTable list={rows} label="Found turns" />
          </div>
        </>
      )}
    </>
  );
}

function ConfigView() {
  const [text, set_text] = useState('');
  const [fault, set_fault] = useState('');
  useEffect(() => {
    ask('/v1/config')
      .then((response) => response.text())
      .then(set_text)
      .catch((error) => set_fault(error.message));
  }, []);
  return (
    <>
      <Problem text={fault} />
      <p class="faint">The configuration in force, secrets masked.</p>
      <pre class="text config" tabIndex={0} aria-label="Configuration">
        {text}
      </pre>
    </>
  );
}

export function Operations() {
  const [tab, set_tab] = useState('usage');
  const tabs = [
    { id: 'usage', title: 'Usage' },
    { id: 'upstreams', title: 'Upstreams' },
    { id: 'latency', title: 'Latency' },
    { id: 'log', title: 'Log' },
    { id: 'sessions', title: 'Sessions' },
    { id: 'config', title: 'Configuration' },
  ];
  return (
    <section class="view operations" aria-labelledby="operations-title">
      <div class="bar">
        <h1 id="operations-title">Operations</h1>
      </div>
      <Tabs label="Operations" tabs={tabs} current={tab} choose={set_tab} />
      <Panel id={tab}>
        {tab === 'usage' && <UsageView />}
        {tab === 'upstreams' && <UpstreamsView />}
        {tab === 'latency' && <LatencyView />}
        {tab === 'log' && <LogView />}
        {tab === 'sessions' && <SessionsView />}
        {tab === 'config' && <ConfigView />}
      </Panel>
    </section>
  );
}
