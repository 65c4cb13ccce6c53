import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

declare global {
  interface Window {
    /** The name under which TanStack's tools in the browser look for it; tests wait for its rest. */
    __TANSTACK_QUERY_CLIENT__?: QueryClient
  }
}

/** Shows an interface in the page. */
export function render(app: ReactNode, queryClient: QueryClient): void {
  window.__TANSTACK_QUERY_CLIENT__ = queryClient
  const root = document.getElementById('root')
  if (!root) throw new Error('index.html has no #root')
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>{app}</QueryClientProvider>
    </StrictMode>,
  )
}
