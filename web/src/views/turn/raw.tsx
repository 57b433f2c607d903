// Everything verbatim, both directions.
import { useMemo, useState } from 'preact/hooks';
import { Button, Choice, CopyButton, Empty } from '../../components/basics';
import { Virtual } from '../../components/virtual';
import type { Head, Recording, Round } from '../../lib/anatomy';
import { ask } from '../../lib/api';
import { bytes_of, bytes_text, download, from_base64, lines_of, text_of, visible } from '../../lib/bytes';
import type { Logged } from './turn';

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

// A command that asks the same again; the key is left to whoever runs it.
export function curl_of(recording: Recording | null, logged: Logged | null): string {
  const head = recording?.heads.find((each) => each.dir === 'client_in');
  const paths: Record<string, string> = { openai_chat: '/v1/chat/completions', openai_responses: '/v1/responses', anthropic_messages: '/v1/messages', ollama: '/api/chat', openai_completions: '/v1/completions' };
  const path = head?.path ?? paths[logged?.protocol ?? ''] ?? '/v1/chat/completions';
  const body = typeof logged?.received === 'string' ? logged.received : JSON.stringify(logged?.received ?? {});
  const key = logged?.key ? ` -H 'authorization: Bearer '"$CALLGATE_KEY"` : '';
  return `curl -N ${quoted(location.origin + path)} -H 'content-type: application/json'${key} -d ${quoted(body)}`;
}

function Lines({ bytes, name }: { bytes: Uint8Array; name: string }) {
  const lines = useMemo(() => lines_of(bytes, 0, bytes.length, true, 2000), [bytes]);
  const [selected, set_selected] = useState(-1);
  if (lines.length === 0) return <Empty title="No bytes" />;
  return (
    <div class="raw-lines">
      <Virtual
        id="raw"
        role="listbox"
        label={name}
        count={lines.length}
        version={bytes}
        height={() => 19}
        selected={selected}
        select={set_selected}
        row={(i) => (
          <div key={i} id={`raw-${i}`} role="option" aria-selected={i === selected} class="raw-line">
            <span class="gutter">{lines[i].begin}</span>
            <span class="mono">{visible(lines[i].text)}</span>
          </div>
        )}
      />
    </div>
  );
}

function Heads({ heads }: { heads: Head[] }) {
  return (
    <>
      {heads.map((head, i) => (
        <details key={i} class="head">
          <summary>
            {head.dir.replace('_', ' ')} <span class="mono">{[head.method, head.path, head.status, head.upstream].filter(Boolean).map(String).map(visible).join(' ')}</span>
          </summary>
          <pre class="text">{head.headers.map(([name, value]) => `${visible(name)}: ${visible(value)}`).join('\n')}</pre>
        </details>
      ))}
    </>
  );
}

export function Raw({ recording, rounds, logged }: { recording: Recording | null; rounds: Round[]; logged: Logged | null }) {
  const [what, set_what] = useState('upstream');
  const [fault, set_fault] = useState('');
  const id = recording?.id ?? logged?.id ?? '';
  const join = (list: Uint8Array[]) => {
    const all = new Uint8Array(list.reduce((sum, each) => sum + each.length, 0));
    let at = 0;
    for (const each of list) {
      all.set(each, at);
      at += each.length;
    }
    return all;
  };
  const bodies = useMemo(() => {
    const json = (value: unknown) => bytes_of(value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2));
    const written = recording?.written.map((piece) => from_base64(piece.bytes)) ?? [];
    return {
      upstream: join(rounds.map((round) => round.upstream)),
      client: written.length > 0 ? join(written) : join(rounds.map((round) => round.client)),
      received: json(logged?.received),
      sent: json(logged?.sent),
      response: json(logged?.response),
    } as Record<string, Uint8Array>;
  }, [recording, rounds, logged]);
  const options = [
    { value: 'upstream', title: `Upstream answer, ${bytes_text(bodies.upstream.length)}` },
    { value: 'client', title: `Client answer, ${bytes_text(bodies.client.length)}` },
    { value: 'received', title: `Client request, ${bytes_text(bodies.received.length)}` },
    { value: 'sent', title: `Upstream request, ${bytes_text(bodies.sent.length)}` },
    { value: 'response', title: `Answer as one body, ${bytes_text(bodies.response.length)}` },
  ];
  const capture = () =>
    ask(`/v1/requests/${encodeURIComponent(id)}/capture`)
      .then((response) => response.blob())
      .then((blob) => download(`${id}.capture.jsonl`, blob))
      .catch((error) => set_fault(error.message));
  return (
    <div class="raw">
      <div class="bar">
        <Choice label="Show" value={what} set={set_what} options={options} />
        <CopyButton text={() => text_of(bodies[what])}>Copy</CopyButton>
        <Button onClick={() => download(`${id}.${what}.${what === 'upstream' ? 'sse' : 'txt'}`, bodies[what] as BlobPart)}>Download</Button>
        <CopyButton text={() => curl_of(recording, logged)}>Copy as curl</CopyButton>
        <Button onClick={capture} disabled={!recording}>
          Download capture
        </Button>
      </div>
      {fault && <p class="problem" role="alert">{fault}</p>}
      {recording && <Heads heads={recording.heads} />}
      <Lines key={what} bytes={bodies[what]} name={options.find((each) => each.value === what)!.title} />
    </div>
  );
}
