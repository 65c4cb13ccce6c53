import './console.css'
import { config } from 'zod/v4/core'
import { queryClient } from './api/queries.ts'
import { App } from './app.tsx'
import { render } from './shared/render.tsx'

// The policy of the page allows no code that is made at run time, which zod would try.
config({ jitless: true })

render(<App />, queryClient)
