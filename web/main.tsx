import './console.css'
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { config } from 'zod/v4/core'
import { queryClient } from './api/queries.ts'
import { App } from './app.tsx'

// The policy of the page allows no code that is made at run time, which zod would try.
config({ jitless: true })

declare global {
  interface Window {
    /** The name under which TanStack's tools in the browser look for it; tests wait for its rest. */
    __TANSTACK_QUERY_CLIENT__?: QueryClient
  }
}
window.__TANSTACK_QUERY_CLIENT__ = queryClient

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
