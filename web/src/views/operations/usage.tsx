// Requests, failures, tokens and cost, over time or by what they were for.
import { useEffect, useState } from 'preact/hooks';
import { Badge, Choice, Empty, Facts, Problem } from '../../components/basics';
import { Columns, Ranking, type Slot } from '../../components/chart';
import { get } from '../../lib/api';
import { bytes_text, visible } from '../../lib/bytes';
import { count, day } from '../../lib/format';

interface Usage {
  group: string;
  requests: number;
  failed: number;
  tool_calls: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost: number | null;
}

const money = (value: number) => (value === 0 ? '0' : value < 0.01 ? value.toPrecision(2) : value.toFixed(2));

const measures: { id: keyof Usage; title: string; format: (value: number) => string }[] = [
  { id: 'requests', title: 'Requests', format: count },
  { id: 'failed', title: 'Failed', format: count },
  { id: 'tool_calls', title: 'Tool calls', format: count },
  { id: 'prompt_tokens', title: 'Prompt tokens', format: count },
  { id: 'completion_tokens', title: 'Completion tokens', format: count },
  { id: 'cost', title: 'Cost', format: money },
];

const groups = ['hour', 'day', 'model', 'key', 'upstream', 'tool'];
const hour_ms = 3_600_000;
const steps: Record<string, number> = { hour: hour_ms, day: 24 * hour_ms };
const most_slots = 200;

// Hours without requests have no row; on a time axis they are zero.
export function fill_gaps(rows: Usage[], group: string): Usage[] {
  const step = steps[group];
  if (!step || rows.length === 0) return rows;
  const by_time = new Map(rows.map((row) => [Date.parse(row.group), row]));
  const begin = Math.min(...by_time.keys());
  const end = Math.max(...by_time.keys());
  if ((end - begin) / step > most_slots) return [...rows].sort((a, b) => (a.group < b.group ? -1 : 1));
  const zero = { requests: 0, failed: 0, tool_calls: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, cost: null };
  const filled: Usage[] = [];
  // Eight bars at least: one wide block says nothing.
  for (let at = Math.min(begin, end - 7 * step); at <= end; at += step) {
    filled.push(by_time.get(at) ?? { group: new Date(at).toISOString(), ...zero });
  }
  return filled;
}

// The gateway's hours and days are those of UTC.
const short = (name: string, group: string) => (group === 'hour' ? name.slice(11, 16) : group === 'day' ? name.slice(5, 10) : name);
const long = (name: string, group: string) => (group === 'hour' ? `${name.slice(0, 10)} ${name.slice(11, 16)} UTC` : group === 'day' ? name.slice(0, 10) : name);

function Charts({ rows, group, shown }: { rows: Usage[]; group: string; shown: typeof measures }) {
  const filled = fill_gaps(rows, group);
  const Chart = group in steps ? Columns : Ranking;
  return (
    <div class="charts">
      {shown.map(({ id, title, format }) => {
        const slots: Slot[] = filled.map((row) => ({ name: long(row.group, group), short: short(row.group, group), value: Number(row[id] ?? 0) }));
        const total = rows.reduce((sum, row) => sum + Number(row[id] ?? 0), 0);
        return <Chart key={id} title={title} note={format(total)} slots={slots} format={format} bad={id === 'failed'} />;
      })}
    </div>
  );
}

function Table({ rows, group, shown }: { rows: Usage[]; group: string; shown: typeof measures }) {
  const titles: Record<string, string> = { hour: 'Hour (UTC)', day: 'Day (UTC)', model: 'Model', key: 'Key', upstream: 'Upstream', tool: 'Tool' };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Usage as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">{titles[group]}</th>
            {shown.map((measure) => (
              <th key={measure.id} scope="col" class="number">
                {measure.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.group}>
              <th scope="row">{visible(long(row.group, group)).replace(' UTC', '') || <span class="faint">none</span>}</th>
              {shown.map((measure) => (
                <td key={measure.id} class="number">
                  {measure.id === 'cost' ? (row.cost === null ? '' : money(row.cost)) : Number(row[measure.id]).toLocaleString('en')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function UsageView() {
  const [group, set_group] = useState('hour');
  const [since, set_since] = useState('24h');
  const [answer, set_answer] = useState<{ group: string; rows: Usage[] } | null>(null);
  const [stats, set_stats] = useState<any>(null);
  const [fault, set_fault] = useState('');
  useEffect(() => {
    let over = false;
    const load = async () => {
      const { data } = await get<{ data: Usage[] }>(`/v1/usage?group=${group}&since=${since}`);
      if (over) return;
      set_answer({ group, rows: data });
      set_stats(await get('/v1/stats'));
    };
    load().then(() => set_fault(''), (error) => set_fault(error.message));
    return () => void (over = true);
  }, [group, since]);
  const rows = answer?.rows ?? [];
  const shown = measures.filter((measure) => measure.id !== 'cost' || rows.some((row) => row.cost));
  return (
    <>
      <div class="form">
        <Choice label="By" value={group} set={set_group} options={groups} />
        <Choice label="Since" value={since} set={set_since} options={[{ value: '2h', title: '2 hours' }, { value: '24h', title: '24 hours' }, { value: '7d', title: '7 days' }, { value: '30d', title: '30 days' }]} />
      </div>
      <Problem text={fault} />
      {answer && rows.length === 0 && <Empty title="Nothing in that time" />}
      {answer && rows.length > 0 && (
        <>
          <Charts rows={rows} group={answer.group} shown={shown} />
          <Table rows={rows} group={answer.group} shown={shown} />
        </>
      )}
      {stats && (
        <Facts
          items={[
            ['Store', stats.engine],
            ['Rows', count(stats.requests)],
            ['Size', bytes_text(stats.bytes)],
            ['Since', stats.oldest_at && day(stats.oldest_at)],
            ['Writer', stats.writer.healthy ? <Badge tone="good">healthy</Badge> : <Badge tone="bad">{stats.writer.problem}</Badge>],
            ['Queued', stats.writer.queued],
            ['Dropped', stats.writer.dropped],
          ]}
        />
      )}
    </>
  );
}
