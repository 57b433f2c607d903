// The tools that the gateway runs: how they are, what they take, and a run as a test.
import { useState } from 'preact/hooks';
import { Area, Badge, Button, Empty, Problem, usePolling } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { get, post } from '../../lib/api';
import { visible, visible_lines } from '../../lib/bytes';
import { clock, duration, plural } from '../../lib/format';

interface Tool {
  name: string;
  kind: string;
  source: string;
  state: string;
  last_error: { message: string; at: string } | null;
  description: string;
  parameters: unknown;
  timeout_ms: number;
}

interface Server {
  name: string;
  state: string;
  reason?: string;
  tools: number;
}

interface Result {
  is_error: boolean;
  text: string;
  truncated: boolean;
  duration_ms: number;
}

const tone = (state: string) => (state === 'ready' ? 'good' : state === 'starting' ? 'info' : 'bad');

// Arguments to begin with: one empty value for each required parameter.
export function sample_of(schema: any): string {
  const empty: Record<string, unknown> = { string: '', number: 0, integer: 0, boolean: false, array: [], object: {} };
  const names: string[] = Array.isArray(schema?.required) ? schema.required : [];
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, empty[schema.properties?.[name]?.type] ?? ''])), null, 1);
}

function TestRun({ tool }: { tool: Tool }) {
  const [text, set_text] = useState(sample_of(tool.parameters));
  const [result, set_result] = useState<Result | null>(null);
  const [fault, set_fault] = useState('');
  const [busy, set_busy] = useState(false);
  const run = async () => {
    set_busy(true);
    set_result(null);
    set_fault('');
    try {
      set_result(await post<Result>(`/v1/tools/${encodeURIComponent(tool.name)}`, { arguments: JSON.parse(text) }));
    } catch (error) {
      set_fault((error as Error).message);
    }
    set_busy(false);
  };
  return (
    <div class="test-run">
      <Area label={`Arguments for ${tool.name}`} value={text} set={set_text} rows={4} />
      <Button onClick={run} disabled={busy}>
        {busy ? 'Running …' : 'Run as a test'}
      </Button>
      <Problem text={fault} />
      {result && (
        <div role="status">
          <Badge tone={result.is_error ? 'bad' : 'good'}>{result.is_error ? 'error' : 'result'}</Badge>{' '}
          <span class="faint">
            {duration(result.duration_ms)}
            {result.truncated && ', truncated'}
          </span>
          <pre class="text">{visible_lines(result.text)}</pre>
        </div>
      )}
    </div>
  );
}

function ToolCard({ tool }: { tool: Tool }) {
  const [open, set_open] = useState(false);
  return (
    <li>
      <details class="tool-card" onToggle={(event) => set_open(event.currentTarget.open)}>
        <summary>
          <strong class="mono">{visible(tool.name)}</strong> <Badge tone={tone(tool.state)}>{tool.state}</Badge>{' '}
          <Badge>{tool.source === tool.name || !tool.source ? tool.kind : `${tool.kind} ${visible(tool.source)}`}</Badge> <span class="faint">{visible(tool.description)}</span>
        </summary>
        {open && (
          <div class="two">
            <div>
              <h3>Parameters</h3>
              <JsonTree value={tool.parameters} open={2} />
              <p class="faint">At most {duration(tool.timeout_ms)} for each run.</p>
              {tool.last_error && (
                <p class="fault">
                  {clock(tool.last_error.at)} {visible(tool.last_error.message)}
                </p>
              )}
            </div>
            <TestRun tool={tool} />
          </div>
        )}
      </details>
    </li>
  );
}

export function Tools() {
  const [tools, set_tools] = useState<Tool[] | null>(null);
  const [servers, set_servers] = useState<Server[]>([]);
  const [fault, set_fault] = useState('');
  usePolling(
    async () => {
      try {
        const answer = await get<{ data: Tool[]; servers: Server[] }>('/v1/tools');
        set_tools(answer.data);
        set_servers(answer.servers);
        set_fault('');
      } catch (error) {
        set_fault((error as Error).message);
      }
    },
    5000,
    [],
  );
  const failing = servers.filter((server) => server.state !== 'ready');
  return (
    <section class="tools" aria-labelledby="tools-title">
      <h2 id="tools-title">Tools {tools && tools.length > 0 && <span class="count">{plural(tools.length, 'tool')}</span>}</h2>
      <Problem text={fault} />
      {failing.map((server) => (
        <p key={server.name}>
          <strong class="mono">{visible(server.name)}</strong> <Badge tone={tone(server.state)}>{server.state}</Badge> <span class="faint">{visible(server.reason ?? '')}</span>
        </p>
      ))}
      {tools?.length === 0 && failing.length === 0 && <Empty title="The gateway runs no tools">Tools of the configuration and of MCP servers appear here.</Empty>}
      <ul class="tool-list">
        {tools?.map((tool) => (
          <ToolCard key={tool.name} tool={tool} />
        ))}
      </ul>
    </section>
  );
}
