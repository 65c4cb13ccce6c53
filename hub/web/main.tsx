import './hub.css'
import { render } from '../../web/shared/render.tsx'
import { queryClient } from './api/queries.ts'
import { App } from './app.tsx'

render(<App />, queryClient)
