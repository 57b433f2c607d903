// The request log, with all filters of the store.
import { useEffect, useState } from 'preact/hooks';
import { Button, Choice, Empty, Input, Problem } from '../../components/basics';
import { get } from '../../lib/api';
import { plural } from '../../lib/format';
import { facts, type Row } from '../../store';
import { TurnTable } from '../live/live';

const any = { value: '', title: 'any' };
const yes_or_no = [any, { value: 'true', title: 'yes' }, { value: 'false', title: 'no' }];
const states = [any, 'running', 'completed', 'failed', 'disconnected', 'interrupted'];
const reasons = [any, 'stop', 'tool_calls', 'length', 'content_filter', 'upstream_error'];

export function LogView() {
  const [wanted, set_wanted] = useState<Record<string, string>>({ since: '24h' });
  const [rows, set_rows] = useState<Row[]>([]);
  const [cursor, set_cursor] = useState<string | null>(null);
  const [fault, set_fault] = useState('');
  const [busy, set_busy] = useState(false);
  const set = (name: string) => (value: string) => set_wanted({ ...wanted, [name]: value });
  const of = (name: string) => ({ value: wanted[name] ?? '', set: set(name) });
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
  const more = ['key', 'session', 'until', 'error', 'has_tool_calls', 'resolved'].filter((name) => wanted[name]).length;
  return (
    <>
      <form
        class="log-form"
        onSubmit={(event) => {
          event.preventDefault();
          void load(null);
        }}
      >
        <div class="form">
          <Input label="Words" {...of('text')} placeholder="in question or answer" />
          <Input label="Since" {...of('since')} placeholder="2h, 7d, 2026-11-16" />
          <Choice label="Model" {...of('model')} options={[any, ...(facts.value?.models ?? [])]} />
          <Choice label="Upstream" {...of('upstream')} options={[any, ...(facts.value?.upstreams ?? [])]} />
          <Choice label="State" {...of('state')} options={states} />
          <Choice label="Finish" {...of('finish_reason')} options={reasons} />
          <Choice label="Missed call" {...of('missed_call')} options={[...yes_or_no, ...(facts.value?.dialects ?? []).filter((name) => name !== 'auto' && name !== 'native')]} />
          <Input label="Tool" {...of('tool')} placeholder="a call of that name" />
          <Button type="submit" kind="primary" disabled={busy}>
            Search
          </Button>
        </div>
        <details>
          <summary>More filters{more > 0 && ` (${more})`}</summary>
          <div class="form">
            <Input label="Until" {...of('until')} placeholder="15m, 2026-11-17" />
            <Input label="Key" {...of('key')} />
            <Input label="Session" {...of('session')} />
            <Input label="Error" {...of('error')} placeholder="true, false, upstream_failed" />
            <Choice label="Has calls" {...of('has_tool_calls')} options={yes_or_no} />
            <Choice label="Resolved" {...of('resolved')} options={yes_or_no} />
          </div>
        </details>
      </form>
      <Problem text={fault} />
      {rows.length === 0 ? (
        <Empty title={busy ? 'Searching …' : 'Nothing found'} />
      ) : (
        <>
          <p class="count" role="status">
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
