// Three columns: what the upstream sent, the events found in it, and what the client got. A row is one frame of the upstream,
// with what came of it; rows that wait for others are hatched, and lead to the row that let them go.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Badge, Empty, type Tone } from '../../components/basics';
import { Virtual } from '../../components/virtual';
import { event_label, gap_ms, pin_label, type Pin, type Recording, type Round, type Step, type TurnEvent } from '../../lib/anatomy';
import { bytes_text, from_base64, lines_of, text_of, visible, visible_lines, type Line } from '../../lib/bytes';
import { duration } from '../../lib/format';
import { useNarrow } from '../live/live';

const line_height = 19;
const padding = 7;
const most_lines = 14; // of one cell; the panel below shows all

const event_tones: Record<TurnEvent['type'], Tone> = {
  text: 'info',
  reasoning: 'think',
  refusal: 'warn',
  call: 'call',
  arguments: 'call',
  end: 'call',
  field: 'plain',
  usage: 'plain',
  finish: 'good',
};

// Frames repeat how they begin: what a line has in common with the one before it, up to the member that differs.
function repeated(line: string, before: string): number {
  let same = 0;
  while (same < line.length && same < before.length && line[same] === before[same]) same++;
  if (same === line.length) return 0;
  const cut = Math.max(line.lastIndexOf('{', same - 1), line.lastIndexOf(',"', same - 1));
  return cut > 24 ? cut : 0;
}

// A line with the places of its pins marked, without what it only repeats.
function Marked({ line, bytes, pins, skip }: { line: Line; bytes: Uint8Array; pins: Pin[]; skip: number }) {
  const pin = pins.find((each) => each.kind === 'stayed_text' && each.end >= line.begin && each.begin < line.end);
  if (!pin) return <Plain text={line.text} skip={skip} />;
  const begin = Math.max(line.begin, pin.begin);
  const end = Math.min(line.end, Math.max(pin.end + 1, begin + 1));
  const from = Math.max(line.begin, Math.min(begin, line.begin + skip, end - 24));
  const piece = (a: number, b: number) => visible(text_of(bytes.subarray(a, b)).replace(/\n$/, ''));
  return (
    <>
      {from > line.begin && <span class="same">…</span>}
      {piece(from, begin)}
      <span class="doubt">{piece(begin, Math.max(begin, Math.min(end, pin.end)))}</span>
      {pin.end >= line.begin && pin.end < line.end && <mark title={pin.text}>{piece(pin.end, pin.end + 1)}</mark>}
      {piece(end, line.end)}
    </>
  );
}

function Plain({ text, skip }: { text: string; skip: number }) {
  return (
    <>
      {skip > 0 && <span class="same">…</span>}
      {visible(text.slice(skip))}
    </>
  );
}

interface Shown {
  step: Step;
  round: Round;
  actual: Line[] | null; // of a tool loop: what its client got at that time
  upstream_skips: number[]; // characters of each line that repeat the one before
  client_skips: number[];
}

function heights(shown: Shown, narrow: boolean): number {
  const { step } = shown;
  const cell = (lines: number) => Math.min(most_lines, lines);
  const client = shown.actual ?? step.client_lines;
  const lines = [cell(step.upstream_lines.length), cell(Math.max(step.events.length, step.held > 0 ? 1 : 0)), cell(client.length)];
  const rows = narrow ? lines.reduce((sum, each) => sum + each, 1) : Math.max(1, ...lines);
  const gap = step.gap > gap_ms ? 1 : 0;
  const begins = step.index === 0 && step.round > 0 ? 1 : 0;
  return (rows + step.pins.length + gap + begins) * line_height + padding;
}

// What the client of a tool loop got, beside the steps that were read just before.
function written_lines(recording: Recording, rounds: Round[]): Map<Step, Line[]> | null {
  if (rounds.length < 2) return null;
  const steps = rounds.flatMap((round) => round.steps);
  const found = new Map<Step, Line[]>(steps.map((step) => [step, []]));
  let at = 0;
  for (const piece of recording.written) {
    while (at + 1 < steps.length && steps[at + 1].t <= piece.t) at++;
    const bytes = from_base64(piece.bytes);
    if (steps[at]) found.get(steps[at])!.push(...lines_of(bytes, 0, bytes.length));
  }
  return found;
}

function EventLine({ event }: { event: TurnEvent }) {
  return (
    <span class="event-line">
      <Badge tone={event_tones[event.type]}>{event.type}</Badge> <span class="mono">{visible(event_label(event))}</span>
    </span>
  );
}

export function Pinned({ pin }: { pin: Pin }) {
  return (
    <span class={`pin-line ${pin.kind}`}>
      <span class="pin-kind">{pin.kind === 'stayed_text' ? 'stayed text' : pin.kind}</span> {visible(pin.kind === 'stayed_text' ? `${pin.name}: ${pin.text}` : pin_label(pin))}
      <span class="at"> at byte {pin.end}</span>
    </span>
  );
}

function StepRow({ shown, index, selected, related, choose }: { shown: Shown; index: number; selected: boolean; related: boolean; choose: () => void }) {
  const { step, round } = shown;
  const client = shown.actual ?? step.client_lines;
  const rest = (lines: number) => lines > most_lines && <span class="more-lines">{lines - most_lines + 1} more lines</span>;
  const cut = <T,>(list: T[]) => (list.length > most_lines ? list.slice(0, most_lines - 1) : list);
  return (
    <div
      class={`step ${step.what} ${related ? 'related' : ''} ${step.held > 0 ? 'held' : ''}`}
      role="row"
      id={`step-${index}`}
      aria-rowindex={index + 2}
      aria-selected={selected}
      onClick={choose}
    >
      {step.index === 0 && step.round > 0 && (
        <span role="gridcell" class="full round">
          Round {step.round + 1}
        </span>
      )}
      {step.gap > gap_ms && (
        <span role="gridcell" class="full gap">
          silent for {duration(step.gap)}
        </span>
      )}
      <span role="gridcell" class="gutter">
        <span>{step.begin}</span>
        <span class="when">{duration(step.t / 1000)}</span>
      </span>
      <span role="gridcell" class="cell upstream">
        {cut(step.upstream_lines).map((line, i) => (
          <span key={line.begin} class="line">
            <Marked line={line} bytes={round.upstream} pins={round.pins} skip={shown.upstream_skips[i]} />
          </span>
        ))}
        {rest(step.upstream_lines.length)}
        {step.what !== 'frame' && step.upstream_lines.length === 0 && <span class="line faint">{step.what === 'closed' ? 'the upstream closed' : step.what}</span>}
      </span>
      <span role="gridcell" class={`cell events ${step.events.length === 0 ? 'none' : ''}`}>
        {cut(step.events).map((event, i) => (
          <EventLine key={i} event={event} />
        ))}
        {rest(step.events.length)}
        {step.events.length === 0 && step.held > 0 && <span class="line faint">held back, {bytes_text(step.held)} wait</span>}
      </span>
      <span role="gridcell" class="cell client">
        {cut(client).map((line, i) => (
          <span key={i} class="line">
            <Plain text={line.text} skip={shown.client_skips[i]} />
          </span>
        ))}
        {rest(client.length)}
      </span>
      {step.pins.map((pin, i) => (
        <span key={i} role="gridcell" class="full">
          <Pinned pin={pin} />
        </span>
      ))}
    </div>
  );
}

function pretty(line: string): string {
  const at = line.indexOf('{');
  if (at < 0) return visible_lines(line);
  try {
    return visible_lines(line.slice(0, at) + JSON.stringify(JSON.parse(line.slice(at)), null, 2));
  } catch {
    return visible_lines(line);
  }
}

function Detail({ shown }: { shown: Shown }) {
  const { step, round } = shown;
  const client = shown.actual ?? step.client_lines;
  return (
    <aside class="detail" aria-label="Selected frame">
      <div>
        <h2>
          Upstream bytes {step.begin}–{step.end}
        </h2>
        <pre class="text" tabIndex={0}>
          {lines_of(round.upstream, step.begin, step.end, false, 1 << 20).map((line) => pretty(line.text)).join('\n')}
        </pre>
      </div>
      <div>
        <h2>Events</h2>
        {step.pins.map((pin, i) => (
          <Pinned key={i} pin={pin} />
        ))}
        <pre class="text" tabIndex={0}>
          {step.events.map((event) => `${event.type.padEnd(10)} ${visible(event_label(event))}`).join('\n') || (step.held > 0 ? `${step.held} bytes are held back: they may become a call` : 'none')}
        </pre>
      </div>
      <div>
        <h2>Client frames</h2>
        <pre class="text" tabIndex={0}>
          {client.map((line) => pretty(line.text)).join('\n') || 'none'}
        </pre>
      </div>
    </aside>
  );
}

interface ColumnsProps {
  recording: Recording;
  rounds: Round[];
  jump: { round: number; step: number; count: number };
  running: boolean;
}

export function Columns({ recording, rounds, jump, running }: ColumnsProps) {
  const narrow = useNarrow();
  const [selected, set_selected] = useState(-1);
  const list = useMemo(() => {
    const written = written_lines(recording, rounds);
    const skips = () => {
      let before = '';
      return (lines: Line[]) =>
        lines.map((line) => {
          const skip = repeated(line.text, before);
          before = line.text;
          return skip;
        });
    };
    const [upstream, client] = [skips(), skips()];
    return rounds.flatMap((round) =>
      round.steps.map((step): Shown => {
        const actual = written?.get(step) ?? null;
        return { step, round, actual, upstream_skips: upstream(step.upstream_lines), client_skips: client(actual ?? step.client_lines) };
      }),
    );
  }, [recording, rounds]);
  useEffect(() => {
    if (jump.step < 0) return;
    set_selected(list.findIndex((each) => each.step.round === jump.round && each.step.index === jump.step));
  }, [jump.count]);
  const chosen = list[selected];
  const is_related = (each: Shown) => chosen !== undefined && each.step.round === chosen.step.round && each.step.group === chosen.step.group;
  if (list.length === 0) {
    const missing = rounds.find((round) => round.missing)?.missing;
    return <Empty title={running ? 'Waiting for the first byte …' : 'No bytes came'}>{missing}</Empty>;
  }
  const head = narrow ? undefined : (
    <div role="rowgroup" class="table-head" data-head="true">
      <div role="row" class="step" aria-rowindex={1}>
        <span role="columnheader" class="gutter">
          Byte
        </span>
        <span role="columnheader" class="cell">
          Upstream bytes
        </span>
        <span role="columnheader" class="cell">
          Events
        </span>
        <span role="columnheader" class="cell">
          Client frames
        </span>
      </div>
    </div>
  );
  return (
    <div class="columns">
      <Virtual
        id="step"
        role="grid"
        label="Frames of the upstream, events and client frames"
        count={list.length}
        version={`${list.length} ${narrow} ${rounds.at(-1)?.upstream.length}`}
        height={(i) => heights(list[i], narrow)}
        selected={selected}
        select={set_selected}
        follow={running && selected < 0}
        head={head}
        row={(i, slot) => <StepRow key={slot} shown={list[i]} index={i} selected={i === selected} related={is_related(list[i])} choose={() => set_selected(i === selected ? -1 : i)} />}
      />
      {chosen && <Detail shown={chosen} />}
    </div>
  );
}
