import './operator.css'
import { createQueryClient } from '../shared/query-client.ts'
import { render } from '../shared/render.tsx'
import { App } from './app.tsx'

render(<App />, createQueryClient({ stale_ms: 2_000 }))
