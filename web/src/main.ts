import './style/ground.css';
import './style/frame.css';
import './style/parts.css';
import { makeApi } from './api/client.ts';
import { startExplorer } from './views/app.ts';

const root = document.getElementById('explorer');
if (root !== null) void startExplorer(root, makeApi(document));
