// A room: what was said, what its model does, and a place to talk.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge, Button, Input } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { key } from '../../lib/api';
import { visible, visible_lines } from '../../lib/bytes';

interface RoomLine {
  who: string;
  text: string;
}

// A room over its WebSocket; the key travels as a subprotocol, since browsers cannot set headers.
export function Room() {
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
        {lines.length === 0 && <li class="faint">{state === 'in' ? 'Nothing was said yet.' : 'Join to hear what is said.'}</li>}
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
