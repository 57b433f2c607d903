// One turn: its three columns while it streams and afterwards, and the same as a person reads it.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Badge, Button, Empty, Facts, Panel, Tabs } from '../../components/basics';
import { ApiError, get } from '../../lib/api';
import { pin_label, read_round, type Recording, type Round } from '../../lib/anatomy';
import { visible } from '../../lib/bytes';
import { clock, count, duration } from '../../lib/format';
import { find_row, go, link, replay_source, type Row } from '../../store';
import { StateBadge } from '../live/live';
import { Assembled } from './assembled';
import { Columns } from './columns';
import { Raw } from './raw';
import { Timeline } from './timeline';

// What the log has of it.
export interface Logged extends Row {
  calls: { id: string; name: string; outcome: string; result?: { round: number; is_error: boolean; duration_ms: number; bytes: number; text: string | null } }[];
  received: unknown;
  sent: unknown;
  response: unknown;
  events: unknown;
}

interface Loaded {
  recording: Recording | null;
  rounds: Round[];
  logged: Logged | null;
  missing: string; // why there is no recording
}

const nothing: Loaded = { recording: null, rounds: [], logged: null, missing: '' };

async function load(id: string, before: Loaded): Promise<Loaded> {
  const path = encodeURIComponent(id);
  const loaded: Loaded = { ...before, missing: '' };
  try {
    const recording = await get<Recording>(`/v1/live/${path}`);
    loaded.recording = recording;
    loaded.rounds = recording.rounds.map((round, i) => (round.anatomy ? read_round(round.anatomy, i, round.pipeline) : empty_round(i, round.missing)));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    loaded.missing = error.message;
  }
  return loaded;
}

function empty_round(index: number, missing = ''): Round {
  const none = new Uint8Array(0);
  return { index, upstream: none, client: none, steps: [], pins: [], summary: {}, error: null, missing };
}

export function Turn({ id }: { id: string }) {
  const [loaded, set_loaded] = useState(nothing);
  const [tab, set_tab] = useState('columns');
  const [fault, set_fault] = useState('');
  const [jump, set_jump] = useState({ round: 0, step: -1, count: 0 });
  const state = useRef(nothing);
  const row = find_row(id);

  useEffect(() => {
    let over = false;
    let timer = 0;
    const run = async () => {
      const begun = performance.now();
      try {
        let next = await load(id, state.current);
        const ended = next.recording ? next.recording.state !== 'running' : find_row(id)?.state !== 'running';
        if (ended && !next.logged) {
          next = { ...next, logged: await get<Logged>(`/v1/requests/${encodeURIComponent(id)}`).catch(() => null) };
        }
        if (over) return;
        state.current = next;
        set_loaded(next);
        set_fault('');
        // The log's writer may be a moment behind the turn.
        const done = ended && next.logged && next.logged.state !== 'running';
        if (done) return;
        if (ended && next.logged) state.current = { ...next, logged: null };
      } catch (error) {
        if (over) return;
        set_fault((error as Error).message);
      }
      // A long turn takes longer to look at: the gateway should have better things to do.
      timer = setTimeout(run, Math.max(300, 4 * (performance.now() - begun))) as unknown as number;
    };
    void run();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [id]);

  const { recording, rounds, logged } = loaded;
  const facts: Row | null = (logged as Row | null) ?? row ?? null;
  const pins = useMemo(() => rounds.flatMap((round) => round.pins.map((pin) => ({ ...pin, round: round.index }))), [rounds]);
  const pipeline = rounds.at(-1)?.pipeline;
  const again = () => {
    replay_source.value = { request: id, round: rounds.length > 1 ? rounds.length : 0 };
    go('replay');
  };
  const tabs = [
    { id: 'columns', title: 'Bytes, events, frames' },
    { id: 'assembled', title: 'Assembled' },
    { id: 'raw', title: 'Raw' },
    { id: 'timeline', title: 'Timeline' },
  ];
  return (
    <section class="view turn" aria-labelledby="turn-title">
      <div class="bar">
        <a class="button quiet" href={link('live')} aria-label="Back to live">
          ←
        </a>
        <h1 id="turn-title" class="mono">
          {visible(id)}
        </h1>
        {facts && <StateBadge row={facts} />}
        {recording?.truncated && <Badge tone="warn" title="capture.max_bytes">truncated</Badge>}
        <span class="space" />
        <Button onClick={again} disabled={!recording}>
          Replay …
        </Button>
      </div>
      {fault && <p class="problem" role="alert">{fault}</p>}
      {facts && (
        <Facts
          items={[
            ['Received', clock(facts.received_at)],
            ['Model', visible(facts.model)],
            ['Upstream', visible(facts.progress?.upstream || facts.upstream || '')],
            ['Wire', pipeline?.wire],
            ['Dialect', facts.dialect],
            ['Protocol', facts.protocol],
            ['Key', visible(facts.key ?? '')],
            ['First token', duration(facts.first_token_ms ?? facts.progress?.first_token_ms)],
            ['Total', duration(facts.total_ms ?? facts.progress?.elapsed_ms)],
            ['Tokens', facts.usage ? `${count(facts.usage.prompt_tokens)} in, ${count(facts.usage.completion_tokens)} out` : ''],
            ['Attempts', (facts.attempts ?? 1) > 1 ? facts.attempts : ''],
          ]}
        />
      )}
      {pins.length > 0 && (
        <ul class="pins" aria-label="What was mended or decided">
          {pins.slice(0, 40).map((pin, i) => (
            <li key={i}>
              <button
                type="button"
                class={`pin ${pin.kind}`}
                onClick={() => {
                  set_tab('columns');
                  set_jump({ round: pin.round, step: pin.step, count: jump.count + 1 });
                }}
              >
                {visible(pin_label(pin))} <span class="at">byte {pin.end}</span>
              </button>
            </li>
          ))}
          {pins.length > 40 && <li class="count">{pins.length - 40} more</li>}
        </ul>
      )}
      <Tabs label="Turn" tabs={tabs} current={tab} choose={set_tab} />
      <Panel id={tab}>
        {tab === 'columns' &&
          (recording ? (
            <Columns recording={recording} rounds={rounds} jump={jump} running={recording.state === 'running'} />
          ) : loaded.missing ? (
            <Empty title="The bytes of this turn are not in memory">{loaded.missing}. The other tabs show what the log has.</Empty>
          ) : (
            <Empty title="Loading …" />
          ))}
        {tab === 'assembled' && <Assembled rounds={rounds} logged={logged} />}
        {tab === 'raw' && <Raw recording={recording} rounds={rounds} logged={logged} />}
        {tab === 'timeline' && <Timeline recording={recording} rounds={rounds} logged={logged} />}
      </Panel>
    </section>
  );
}
