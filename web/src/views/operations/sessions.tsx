// Conversations: those that upstreams keep (sessions), and those that the gateway remembers for tool loops and rooms.
import { useEffect, useState } from 'preact/hooks';
import { Button, Problem } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { get } from '../../lib/api';
import { bytes_text, visible } from '../../lib/bytes';
import { day } from '../../lib/format';
import { go } from '../../store';

interface Session {
  id: string;
  key: string | null;
  upstream: string;
  model: string;
  name: string | null;
  turns: number;
  last_used_at: string;
  answers?: { request: string }[];
}

interface Conversation {
  id: string;
  key: string | null;
  bytes: number;
  created_at: string;
  last_used_at: string;
  waits_for_results: boolean;
}

function Head({ titles }: { titles: string[] }) {
  return (
    <thead>
      <tr>
        {titles.map((title) => (
          <th key={title} scope="col" class={title === 'Turns' || title === 'Size' ? 'number' : ''}>
            {title || <span class="visually-hidden">Open</span>}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function Sessions({ rows, open }: { rows: Session[]; open: (id: string) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Sessions">
      <table class="stack">
        <Head titles={['Session', 'Model', 'Upstream', 'Key', 'Turns', 'Last used', '']} />
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <th scope="row">{visible(row.name ?? row.id)}</th>
              <td data-title="Model">{visible(row.model)}</td>
              <td data-title="Upstream">{visible(row.upstream)}</td>
              <td data-title="Key">{visible(row.key ?? '')}</td>
              <td class="number" data-title="Turns">
                {row.turns}
              </td>
              <td data-title="Last used">{day(row.last_used_at)}</td>
              <td>
                <Button onClick={() => open(row.id)}>Last turn</Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Conversations({ rows, open }: { rows: Conversation[]; open: (row: Conversation) => void }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Conversations">
      <table class="stack">
        <Head titles={['Conversation', 'Key', 'Size', 'Last used', '']} />
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.key} ${row.id}`}>
              <th scope="row">{visible(row.id)}</th>
              <td data-title="Key">{visible(row.key ?? '')}</td>
              <td class="number" data-title="Size">{bytes_text(row.bytes)}</td>
              <td data-title="Last used">{day(row.last_used_at)}</td>
              <td>
                <Button onClick={() => open(row)}>Show</Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function SessionsView() {
  const [sessions, set_sessions] = useState<Session[] | null>(null);
  const [conversations, set_conversations] = useState<Conversation[] | null>(null);
  const [shown, set_shown] = useState<any>(null);
  const [fault, set_fault] = useState('');
  const fail = (error: Error) => set_fault(error.message);
  useEffect(() => {
    get<{ data: Session[] }>('/v1/sessions?limit=100').then((page) => set_sessions(page.data), fail);
    get<{ data: Conversation[] }>('/v1/conversations?limit=100').then((page) => set_conversations(page.data), fail);
  }, []);
  const open_session = async (id: string) => {
    const session = await get<Session>(`/v1/sessions/${encodeURIComponent(id)}`);
    const last = session.answers?.at(-1)?.request;
    if (last) go('turn', last);
  };
  const open_conversation = async (row: Conversation) => {
    const query = row.key ? `?key=${encodeURIComponent(row.key)}` : '';
    set_shown(await get(`/v1/conversations/${encodeURIComponent(row.id)}${query}`));
  };
  return (
    <>
      <Problem text={fault} />
      <section aria-labelledby="sessions-title">
        <h2 id="sessions-title">Sessions</h2>
        {sessions?.length === 0 && <p class="faint">No sessions. Upstreams that keep conversations themselves have some.</p>}
        {sessions && sessions.length > 0 && <Sessions rows={sessions} open={(id) => void open_session(id).catch(fail)} />}
      </section>
      <section aria-labelledby="conversations-title">
        <h2 id="conversations-title">Conversations</h2>
        {conversations?.length === 0 && <p class="faint">No conversations. The gateway remembers those of tool loops and rooms that have a name.</p>}
        {conversations && conversations.length > 0 && <Conversations rows={conversations} open={(row) => void open_conversation(row).catch(fail)} />}
        {shown && (
          <div class="part" role="region" aria-label={`Conversation ${shown.id}`}>
            <div class="part-head">
              <strong>{visible(shown.id)}</strong>
              <span class="space" />
              <Button onClick={() => set_shown(null)}>Close</Button>
            </div>
            <JsonTree value={shown.messages} open={2} />
          </div>
        )}
      </section>
    </>
  );
}
