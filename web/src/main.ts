import './style/ground.css';
import './style/frame.css';
import './style/parts.css';
import './style/data.css';
import { makeApi } from './api/client.ts';
import { siteApi } from './api/site_client.ts';
import { startExplorer } from './views/app.ts';
import { startHub } from './views/hub.ts';
import { startSite } from './views/site.ts';

const root = document.getElementById('explorer');
// `assay site serve` and `assay hub serve` serve this page too, and say so in it.
const what = document.querySelector('meta[name="assay-data"]')?.getAttribute('content');
// The explorer has a choice of its own; the other pages look as the system does.
function followTheme(): void {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const follow = (): void => {
    document.documentElement.dataset['theme'] = dark.matches ? 'dark' : 'light';
  };
  dark.addEventListener('change', follow);
  follow();
}

if (root !== null) {
  if (what === 'site' || what === 'hub') followTheme();
  if (what === 'site') void startSite(root, siteApi());
  else if (what === 'hub') startHub(root);
  else void startExplorer(root, makeApi(document));
}
