import { QueryClient } from '@tanstack/react-query'
import { ProblemError } from './problem.ts'

/** The cache of what the server answered; data is fresh for `stale_ms`. */
export function createQueryClient({ stale_ms }: { stale_ms: number }): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // The server may be on this very machine, so it does not matter whether the browser is online.
        networkMode: 'always',
        staleTime: stale_ms,
        retry: (count, error) =>
          count < 1 && error instanceof ProblemError && error.problem.status >= 500,
      },
      mutations: { networkMode: 'always' },
    },
  })
}
