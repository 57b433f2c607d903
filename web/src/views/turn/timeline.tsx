// What took how long: each try at an upstream, its tokens, and the tools that the gateway ran.
import { Empty } from '../../components/basics';
import type { Recording, Round } from '../../lib/anatomy';
import { visible } from '../../lib/bytes';
import { duration } from '../../lib/format';
import type { Logged } from './turn';

interface Bar {
  begin: number; // milliseconds
  end: number;
  kind: 'wait' | 'stream' | 'tool' | 'fault' | 'think';
  text: string;
}

interface Lane {
  name: string;
  bars: Bar[];
  ticks: number[];
}

function lanes_of(recording: Recording | null, rounds: Round[], logged: Logged | null): Lane[] {
  const lanes: Lane[] = [];
  const ms = (us: number) => us / 1000;
  recording?.attempts.forEach((attempt, i) => {
    const bars: Bar[] = [];
    const first = attempt.first >= 0 ? attempt.first : attempt.head;
    const answered = first >= 0 ? first : Math.max(attempt.last, attempt.asked);
    bars.push({ begin: ms(attempt.asked), end: ms(answered), kind: attempt.error && first < 0 ? 'fault' : 'wait', text: 'asked, waiting' });
    if (first >= 0) bars.push({ begin: ms(first), end: ms(attempt.last), kind: attempt.error || attempt.status >= 400 ? 'fault' : 'stream', text: attempt.error ?? `status ${attempt.status}` });
    const steps = rounds.flatMap((round) => round.steps).filter((step) => step.t >= attempt.asked && (attempt.last < 0 || step.t <= attempt.last));
    lanes.push({ name: `${i + 1}. ${attempt.upstream}`, bars, ticks: steps.filter((step) => step.events.length > 0).map((step) => ms(step.t)) });
  });
  const logged_rounds = Array.isArray(logged?.events) ? (logged.events as any[]).filter((event) => event.type === 'round') : [];
  for (const call of logged?.calls ?? []) {
    if (!call.result) continue;
    const round = logged_rounds[call.result.round];
    const begin = round ? round.at_ms + round.duration_ms : 0;
    lanes.push({ name: call.name, bars: [{ begin, end: begin + call.result.duration_ms, kind: call.result.is_error ? 'fault' : 'tool', text: `tool, ${call.result.bytes} bytes` }], ticks: [] });
  }
  return lanes;
}

export function Timeline({ recording, rounds, logged }: { recording: Recording | null; rounds: Round[]; logged: Logged | null }) {
  const lanes = lanes_of(recording, rounds, logged);
  if (lanes.length === 0) {
    const known: [string, number | null | undefined][] = [['First byte', logged?.first_byte_ms], ['First token', logged?.first_token_ms], ['Total', logged?.total_ms]];
    const rows = known.filter(([, value]) => value !== null && value !== undefined);
    if (rows.length === 0) return <Empty title="No times are known" />;
    lanes.push(...rows.map(([name, value]): Lane => ({ name, bars: [{ begin: 0, end: value!, kind: name === 'Total' ? 'stream' : 'wait', text: '' }], ticks: [] })));
  }
  const whole = Math.max(1, logged?.total_ms ?? 0, ...lanes.flatMap((lane) => lane.bars.map((bar) => bar.end)));
  const share = (ms: number) => `${(100 * ms) / whole}%`;
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * whole);
  const token = logged?.first_token_ms;
  return (
    <figure class="timeline" role="img" aria-label={`Time line of ${duration(whole)}: ${lanes.map((lane) => `${lane.name} ${lane.bars.map((bar) => duration(bar.end - bar.begin)).join(' and ')}`).join('; ')}`}>
      <div class="lane axis" aria-hidden="true">
        <span class="lane-name" />
        <span class="lane-track">
          {marks.map((mark, i) => (
            <span key={mark} class={`mark ${i === 0 ? 'first' : i === 4 ? 'last' : ''}`} style={{ left: share(mark) }}>
              {duration(mark)}
            </span>
          ))}
        </span>
      </div>
      {lanes.map((lane, i) => (
        <div key={i} class="lane" aria-hidden="true">
          <span class="lane-name mono" title={visible(lane.name)}>
            {visible(lane.name)}
          </span>
          <span class="lane-track">
            {lane.bars.map((bar, j) => (
              <span key={j} class={`lane-bar ${bar.kind}`} style={{ left: share(bar.begin), width: share(Math.max(bar.end - bar.begin, whole / 500)) }} title={`${duration(bar.end - bar.begin)} ${visible(bar.text)}`}>
                <span>{duration(bar.end - bar.begin)}</span>
              </span>
            ))}
            {lane.ticks.map((tick, j) => (
              <span key={j} class="tick" style={{ left: share(tick) }} />
            ))}
            {token !== null && token !== undefined && <span class="token" style={{ left: share(token) }} title={`first token after ${duration(token)}`} />}
          </span>
        </div>
      ))}
      <figcaption>
        <span class="legend wait">waiting</span> <span class="legend stream">streaming</span> <span class="legend tool">tool</span> <span class="legend fault">failed</span>{' '}
        <span class="legend tick-key">events</span> {token !== null && token !== undefined && <span class="legend token-key">first token {duration(token)}</span>}
      </figcaption>
    </figure>
  );
}
