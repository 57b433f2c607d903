// Tool loops that run now, with the calls that wait for a person; rooms to join; the tools that the gateway runs.
import { useState } from 'preact/hooks';
import { Badge, Button, Empty, Input, Problem, usePolling } from '../../components/basics';
import { JsonTree } from '../../components/json_tree';
import { get, post } from '../../lib/api';
import { visible } from '../../lib/bytes';
import { duration, plural } from '../../lib/format';
import { link } from '../../store';
import { Room } from './room';
import { Tools } from './tools';

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
        <span class="actions">
          <a href={link('turn', loop.request)}>Open turn</a>
          <Button kind="danger" onClick={() => act({ action: 'cancel' })}>
            Cancel
          </Button>
        </span>
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
      <Tools />
    </section>
  );
}
