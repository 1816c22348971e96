import './style/ground.css';
import './style/frame.css';
import './style/parts.css';
import { makeApi } from './api/client.ts';
import { siteApi } from './api/site_client.ts';
import { startExplorer } from './views/app.ts';
import { startSite } from './views/site.ts';

const root = document.getElementById('explorer');
// `assay site serve` serves this page too, and says so in it.
const what = document.querySelector('meta[name="assay-data"]')?.getAttribute('content');
if (root !== null) {
  void (what === 'site' ? startSite(root, siteApi()) : startExplorer(root, makeApi(document)));
}
