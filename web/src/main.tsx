import { render } from 'preact';
import { App } from './app';
import { connect } from './store';

render(<App />, document.getElementById('app')!);
void connect();
