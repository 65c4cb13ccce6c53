// The parts of the two platforms' APIs that their entries use.

declare module 'cloudflare:workers' {
  export function waitUntil(work: Promise<unknown>): void
  export class WorkerEntrypoint<Bindings> {
    env: Bindings
  }
}

type Hyperdrive = { connectionString: string }
type ApiBindings = {
  API_DATABASE: Hyperdrive
  JOBS: { drain: () => Promise<unknown> }
  ASSETS: { fetch: (url: URL) => Promise<Response> }
  PUBLIC_URL: string
}
type JobsBindings = { JOBS_DATABASE: Hyperdrive }

declare const Deno: {
  env: { toObject: () => Record<string, string> }
  serve: (answer: (request: Request) => Response | Promise<Response>) => void
}

/** Exists on Supabase only, not in plain Deno. */
declare var EdgeRuntime: { waitUntil: (work: Promise<unknown>) => void } | undefined
