import { setWorkerUrl } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'

// From a file of our own: the policy of the page allows no script that is made at run time.
setWorkerUrl(workerUrl)
