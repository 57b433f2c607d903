// Turns as they happen, the latest first.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Badge, Button, Empty, Input } from '../../components/basics';
import { Virtual } from '../../components/virtual';
import { bytes_text, visible } from '../../lib/bytes';
import { clock, count, duration, plural } from '../../lib/format';
import { clear_rows, facts, filter, go, held_rows, only, pause, paused, rows, run_demo, shown_rows, type Row } from '../../store';

const row_height = 30;
const card_height = 62; // on narrow screens

function narrow_screen() {
  return matchMedia('(max-width: 820px)');
}

export function useNarrow(): boolean {
  const [narrow, set_narrow] = useState(narrow_screen().matches);
  useEffect(() => {
    const query = narrow_screen();
    const see = () => set_narrow(query.matches);
    query.addEventListener('change', see);
    return () => query.removeEventListener('change', see);
  }, []);
  return narrow;
}

export function StateBadge({ row }: { row: Row }) {
  if (row.state === 'running') return <Badge tone="info">{row.progress?.phase ?? 'running'}</Badge>;
  if (row.state === 'completed') return <Badge tone="good">{row.finish_reason ?? 'completed'}</Badge>;
  if (row.state === 'failed') return <Badge tone="bad">failed</Badge>;
  return <Badge tone="warn">{row.state}</Badge>;
}

function tokens(row: Row): string {
  if (row.usage) return `${count(row.usage.prompt_tokens)} › ${count(row.usage.completion_tokens)}`;
  if (row.progress && row.progress.bytes > 0) return bytes_text(row.progress.bytes);
  return '';
}

function Notes({ row }: { row: Row }) {
  return (
    <>
      {row.missed_call && (
        <Badge tone="warn" title="The text looks like a call that no dialect took">
          missed call: {row.missed_call}
        </Badge>
      )}
      {(row.repairs ?? 0) > 0 && (
        <Badge tone="think" title={row.repair_names ?? ''}>
          {row.repair_names}
        </Badge>
      )}
      {row.cut && <Badge>{row.cut}</Badge>}
      {row.error && <span class="fault">{visible(row.error.message)}</span>}
    </>
  );
}

const columns: { title: string; kind: string; cell: (row: Row) => preact.ComponentChildren }[] = [
  { title: 'Time', kind: 'time', cell: (row) => clock(row.received_at) },
  { title: 'State', kind: 'state', cell: (row) => <StateBadge row={row} /> },
  { title: 'Model', kind: 'model', cell: (row) => visible(row.model) },
  { title: 'Key', kind: 'key', cell: (row) => visible(row.key ?? '') },
  { title: 'Upstream', kind: 'upstream', cell: (row) => visible(row.progress?.upstream || row.upstream || '') },
  { title: 'Dialect', kind: 'dialect', cell: (row) => row.dialect },
  { title: 'Protocol', kind: 'protocol', cell: (row) => row.protocol },
  { title: 'First token', kind: 'number', cell: (row) => duration(row.first_token_ms ?? row.progress?.first_token_ms) },
  { title: 'Total', kind: 'number', cell: (row) => duration(row.total_ms ?? row.progress?.elapsed_ms) },
  { title: 'Tokens', kind: 'tokens', cell: tokens },
  { title: 'Calls', kind: 'number short', cell: (row) => row.tool_calls || row.progress?.calls || '' },
  { title: 'Notes', kind: 'notes', cell: (row) => <Notes row={row} /> },
];

function WideRow({ row, index, selected, open }: { row: Row; index: number; selected: boolean; open: () => void }) {
  // A row that only moved is not made again.
  const cells = useMemo(
    () =>
      columns.map((column) => (
        <span key={column.title} role="gridcell" class={`cell ${column.kind}`}>
          {column.cell(row)}
        </span>
      )),
    [row],
  );
  return (
    <div class={`turn-row ${row.state}`} role="row" id={`live-${index}`} aria-rowindex={index + 2} aria-selected={selected} onClick={open}>
      {cells}
    </div>
  );
}

function Card({ row, index, selected, open }: { row: Row; index: number; selected: boolean; open: () => void }) {
  return (
    <div class={`turn-card ${row.state}`} role="row" id={`live-${index}`} aria-rowindex={index + 1} aria-selected={selected} onClick={open}>
      <span role="gridcell" class="card-main">
        <strong>{visible(row.model)}</strong>
        <StateBadge row={row} />
        <span class="card-time">{clock(row.received_at)}</span>
      </span>
      <span role="gridcell" class="card-more">
        <Notes row={row} />{' '}
        {[visible(row.upstream ?? ''), row.dialect, duration(row.total_ms ?? row.progress?.elapsed_ms), tokens(row), row.tool_calls ? plural(row.tool_calls, 'call') : '']
          .filter(Boolean)
          .join(' · ')}
      </span>
    </div>
  );
}

const kinds = [
  { id: 'all', title: 'All' },
  { id: 'running', title: 'Running' },
  { id: 'problems', title: 'Problems' },
  { id: 'calls', title: 'With calls' },
] as const;

export function TurnTable({ list, label }: { list: Row[]; label: string }) {
  const narrow = useNarrow();
  const chosen = useSignal('');
  const selected = chosen.value ? list.findIndex((row) => row.id === chosen.value) : -1;
  const open = (index: number) => {
    chosen.value = list[index].id;
    go('turn', list[index].id);
  };
  const head = narrow ? undefined : (
    <div role="rowgroup" class="table-head" data-head="true">
      <div role="row" class="turn-row" aria-rowindex={1}>
        {columns.map((column) => (
          <span key={column.title} role="columnheader" class={`cell ${column.kind}`}>
            {column.title}
          </span>
        ))}
      </div>
    </div>
  );
  return (
    <Virtual
      id="live"
      role="grid"
      label={label}
      count={list.length}
      version={narrow}
      height={() => (narrow ? card_height : row_height)}
      selected={selected}
      select={(index) => (chosen.value = list[index].id)}
      open={open}
      head={head}
      row={(i, slot) =>
        narrow ? (
          <Card key={slot} row={list[i]} index={i} selected={i === selected} open={() => open(i)} />
        ) : (
          <WideRow key={slot} row={list[i]} index={i} selected={i === selected} open={() => open(i)} />
        )
      }
    />
  );
}

export function Live() {
  const list = shown_rows.value;
  const [asking, set_asking] = useState(false);
  const [fault, set_fault] = useState('');
  const demo = async () => {
    set_asking(true);
    set_fault('');
    await run_demo().catch((error) => set_fault(error.message));
    set_asking(false);
  };
  const running = rows.value.filter((row) => row.state === 'running').length;
  return (
    <section class="view live" aria-labelledby="live-title">
      <div class="bar">
        <h1 id="live-title">Live</h1>
        <Input label="Filter" hide_label value={filter.value} set={(value) => (filter.value = value)} placeholder="Filter: model, key, upstream, error …" />
        <div class="group" role="group" aria-label="Which turns">
          {kinds.map((kind) => (
            <Button key={kind.id} pressed={only.value === kind.id} onClick={() => (only.value = kind.id)}>
              {kind.title}
            </Button>
          ))}
        </div>
        <span class="space" />
        <span class="count" aria-live="off">
          {list.length === rows.value.length ? list.length : `${list.length} of ${rows.value.length}`} turns{running > 0 && `, ${running} running`}
        </span>
        <Button pressed={paused.value} onClick={() => pause(!paused.value)} title="Keep the list as it is">
          {paused.value ? `Resume${held_rows.value > 0 ? ` (${held_rows.value} new)` : ''}` : 'Pause'}
        </Button>
        <Button onClick={clear_rows} title="Empty this list; the log keeps its rows">
          Clear
        </Button>
        {facts.value?.demo && (
          <Button kind="primary" onClick={demo} disabled={asking}>
            {asking ? 'Running …' : 'Run demo turns'}
          </Button>
        )}
      </div>
      {fault && <p class="problem" role="alert">{fault}</p>}
      {list.length === 0 ? (
        <Empty title={rows.value.length === 0 ? 'No turns yet' : 'No turn fits the filter'}>
          {rows.value.length === 0 ? 'Turns appear here as clients ask for them.' : 'Change the filter to see others.'}
        </Empty>
      ) : (
        <TurnTable list={list} label="Turns" />
      )}
    </section>
  );
}
