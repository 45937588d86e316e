import { render } from 'preact';
import { App } from './app.js';
import { connect } from './service/live.js';
import './app.css';

const root = document.getElementById('app');
if (root !== null) {
  connect();
  render(<App />, root);
}
