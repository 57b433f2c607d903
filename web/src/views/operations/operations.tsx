// Usage, upstreams, latency, the log, sessions, a smoke run, and the configuration in force.
import { useEffect, useState } from 'preact/hooks';
import { Panel, Problem, Tabs } from '../../components/basics';
import { ask } from '../../lib/api';
import { visible_lines } from '../../lib/bytes';
import { LogView } from './log';
import { SessionsView } from './sessions';
import { SmokeView } from './smoke';
import { LatencyView, UpstreamsView } from './upstreams';
import { UsageView } from './usage';

function ConfigView() {
  const [text, set_text] = useState('');
  const [fault, set_fault] = useState('');
  useEffect(() => {
    ask('/v1/config')
      .then((response) => response.text())
      .then(set_text)
      .catch((error) => set_fault(error.message));
  }, []);
  return (
    <>
      <Problem text={fault} />
      <p class="faint">The configuration in force, secrets masked.</p>
      <pre class="text config" tabIndex={0} aria-label="Configuration">
        {visible_lines(text)}
      </pre>
    </>
  );
}

export function Operations() {
  const [tab, set_tab] = useState('usage');
  const tabs = [
    { id: 'usage', title: 'Usage' },
    { id: 'upstreams', title: 'Upstreams' },
    { id: 'latency', title: 'Latency' },
    { id: 'log', title: 'Log' },
    { id: 'sessions', title: 'Sessions' },
    { id: 'smoke', title: 'Smoke' },
    { id: 'config', title: 'Configuration' },
  ];
  return (
    <section class="view operations" aria-labelledby="operations-title">
      <div class="bar">
        <h1 id="operations-title">Operations</h1>
      </div>
      <Tabs label="Operations" tabs={tabs} current={tab} choose={set_tab} />
      <Panel id={tab}>
        {tab === 'usage' && <UsageView />}
        {tab === 'upstreams' && <UpstreamsView />}
        {tab === 'latency' && <LatencyView />}
        {tab === 'log' && <LogView />}
        {tab === 'sessions' && <SessionsView />}
        {tab === 'smoke' && <SmokeView />}
        {tab === 'config' && <ConfigView />}
      </Panel>
    </section>
  );
}
