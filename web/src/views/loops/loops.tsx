// Tool loops that run now, with the calls that wait for a person, and rooms to join.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge, Button, Empty, Input, Problem, usePolling } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { get, key, post } from '../../lib/api';
import { visible, visible_lines } from '../../lib/bytes';
import { duration, plural } from '../../lib/format';
import { link } from '../../store';

interface Approval {
  run: number;
  call: string;
  tool: string;
  arguments: string;
}

interface Loop {
  id: string;
  request: string;
  model: string;
  key: string;
  started_at: number;
  rounds: number;
  calls: number;
  running: string[];
  approvals: Approval[];
}

function Waiting({ loop, approval, act }: { loop: Loop; approval: Approval; act: (body: object) => Promise<void> }) {
  const [reason, set_reason] = useState('');
  return (
    <div class="approval" role="group" aria-label={`${approval.tool} waits for approval`}>
      <div class="part-head">
        <Badge tone="warn">waits for you</Badge> <strong class="mono">{visible(approval.tool)}</strong> <span class="faint mono">{loop.id}</span>
      </div>
      <JsonTree text={approval.arguments} />
      <div class="bar">
        <Button kind="primary" onClick={() => act({ action: 'approve', run: approval.run })}>
          Approve
        </Button>
        <Input label="Reason for denial" hide_label value={reason} set={set_reason} placeholder="Reason, for the model" />
        <Button kind="danger" onClick={() => act({ action: 'deny', run: approval.run, reason })}>
          Deny
        </Button>
      </div>
    </div>
  );
}

function LoopCard({ loop, refresh }: { loop: Loop; refresh: () => Promise<void> }) {
  const [text, set_text] = useState('');
  const [fault, set_fault] = useState('');
  const act = async (body: object) => {
    try {
      set_fault('');
      await post(`/v1/loops/${encodeURIComponent(loop.id)}`, body);
    } catch (error) {
      set_fault((error as Error).message);
    }
    await refresh().catch(() => {});
  };
  const inject = () => act({ action: 'inject', text }).then(() => set_text(''));
  return (
    <li class="loop">
      <div class="part-head">
        <strong class="mono">{visible(loop.model)}</strong>
        {loop.running.map((tool) => (
          <Badge key={tool} tone="call">
            {visible(tool)} runs
          </Badge>
        ))}
        <span class="faint">
          {plural(loop.rounds, 'round')}, {plural(loop.calls, 'call')}, for {duration(Date.now() - loop.started_at)}
        </span>
        {loop.key && <Badge>{visible(loop.key)}</Badge>}
        <span class="space" />
        <a href={link('turn', loop.request)}>Open turn</a>
        <Button kind="danger" onClick={() => act({ action: 'cancel' })}>
          Cancel
        </Button>
      </div>
      {loop.approvals.map((approval) => (
        <Waiting key={approval.run} loop={loop} approval={approval} act={act} />
      ))}
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          void inject();
        }}
      >
        <Input label="Message for the model" hide_label value={text} set={set_text} placeholder="Say something before its next round" />
        <Button type="submit" disabled={!text}>
          Inject
        </Button>
      </form>
      <Problem text={fault} />
    </li>
  );
}

interface RoomLine {
  who: string;
  text: string;
}

// A room over its WebSocket; the key travels as a subprotocol, since browsers cannot set headers.
function Room() {
  const [name, set_name] = useState('lobby');
  const [model, set_model] = useState('');
  const [said, set_said] = useState('');
  const [lines, set_lines] = useState<RoomLine[]>([]);
  const [approval, set_approval] = useState<{ run: number; name: string; arguments: string } | null>(null);
  const [state, set_state] = useState<'out' | 'joining' | 'in'>('out');
  const socket = useRef<WebSocket | null>(null);
  useEffect(() => () => socket.current?.close(), []);
  const add = (who: string, text: string, join = false) =>
    set_lines((before) => {
      const last = before.at(-1);
      if (join && last?.who === who) return [...before.slice(0, -1), { who, text: last.text + text }];
      return [...before.slice(-199), { who, text }];
    });
  const hear = (data: string) => {
    const frame = JSON.parse(data);
    if (frame.type === 'snapshot') {
      set_state('in');
      set_lines((frame.messages ?? []).map((message: any) => ({ who: message.role ?? 'user', text: message.content ?? message.text ?? '' })));
    } else if (frame.type === 'user_message') add('user', frame.text ?? JSON.stringify(frame.content));
    else if (frame.type === 'stream_start') add('assistant', '');
    else if (frame.type === 'stream_chunk') add('assistant', frame.delta, true);
    else if (frame.type === 'thinking_chunk') add('thinking', frame.delta, true);
    else if (frame.type === 'tool_call_start') add('call', `${frame.name} ${frame.arguments}`);
    else if (frame.type === 'tool_call_end') add('result', `${frame.name}: ${frame.preview ?? ''}`);
    else if (frame.type === 'approval_required') set_approval({ run: frame.run, name: frame.name, arguments: frame.arguments });
    else if (frame.type === 'stream_error' || frame.type === 'error') add('error', frame.error?.message ?? 'error');
  };
  const join = () => {
    socket.current?.close();
    set_state('joining');
    const query = model ? `?model=${encodeURIComponent(model)}` : '';
    const protocols = ['callgate', ...(key.value ? [`callgate-key.${encodeURIComponent(key.value)}`] : [])];
    const opened = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/rooms/${encodeURIComponent(name)}${query}`, protocols);
    opened.onmessage = ({ data }) => hear(data);
    opened.onclose = () => set_state('out');
    socket.current = opened;
  };
  const send = (body: object) => socket.current?.send(JSON.stringify(body));
  return (
    <section class="room" aria-labelledby="room-title">
      <h2 id="room-title">Room</h2>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          join();
        }}
      >
        <Input label="Room" value={name} set={set_name} />
        <Input label="Model" value={model} set={set_model} placeholder="of messages that name none" />
        <Button type="submit" kind={state === 'in' ? 'plain' : 'primary'}>
          {state === 'in' ? 'Join again' : 'Join'}
        </Button>
        {state !== 'out' && <Badge tone={state === 'in' ? 'good' : 'info'}>{state === 'in' ? 'joined' : 'joining'}</Badge>}
      </form>
      <ol class="talk" aria-live="polite" aria-label="What was said" tabIndex={0}>
        {lines.map((line, i) => (
          <li key={i} class={line.who}>
            <span class="who">{visible(line.who)}</span>
            <pre class="text">{visible_lines(line.text)}</pre>
          </li>
        ))}
      </ol>
      {approval && (
        <div class="approval">
          <strong class="mono">{visible(approval.name)}</strong>
          <JsonTree text={approval.arguments} />
          <div class="bar">
            <Button kind="primary" onClick={() => (send({ type: 'approve', run: approval.run }), set_approval(null))}>
              Approve
            </Button>
            <Button kind="danger" onClick={() => (send({ type: 'deny', run: approval.run }), set_approval(null))}>
              Deny
            </Button>
          </div>
        </div>
      )}
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          send({ type: 'user_message', text: said });
          set_said('');
        }}
      >
        <Input label="Message" hide_label value={said} set={set_said} placeholder="Say something in the room" />
        <Button type="submit" disabled={state !== 'in' || !said}>
          Send
        </Button>
        <Button onClick={() => send({ type: 'cancel' })} disabled={state !== 'in'}>
          Cancel turn
        </Button>
      </form>
    </section>
  );
}

export function Loops() {
  const [loops, set_loops] = useState<Loop[] | null>(null);
  const [fault, set_fault] = useState('');
  const refresh = async () => {
    try {
      set_loops((await get<{ data: Loop[] }>('/v1/loops')).data);
      set_fault('');
    } catch (error) {
      set_fault((error as Error).message);
    }
  };
  usePolling(refresh, 1000, []);
  const waiting = loops?.reduce((sum, loop) => sum + loop.approvals.length, 0) ?? 0;
  return (
    <section class="view loops" aria-labelledby="loops-title">
      <div class="bar">
        <h1 id="loops-title">Loops and rooms</h1>
        <span role="status">{waiting > 0 && <Badge tone="warn">{plural(waiting, 'call')} waiting for approval</Badge>}</span>
      </div>
      <Problem text={fault} />
      <div class="two">
        <section aria-labelledby="running-title">
          <h2 id="running-title">Running loops</h2>
          {loops?.length === 0 && <Empty title="No tool loop runs">Loops of this gateway appear here while they run.</Empty>}
          <ul class="loop-list">
            {loops?.map((loop) => (
              <LoopCard key={loop.id} loop={loop} refresh={refresh} />
            ))}
          </ul>
        </section>
        <Room />
      </div>
    </section>
  );
}
