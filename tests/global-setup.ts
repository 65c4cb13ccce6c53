import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startTestServer } from './support/servers/database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A folder for what is built once in a run and used by several test files. */
    run_folder: string
  }
}

/** One throwaway server for the whole run, with a template that each test file clones. */
export default async function setup(project: TestProject) {
  // Hundreds of processes are started from the same files: each is compiled once.
  process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, '../node_modules/.cache/compiled')
  // Supabase's CLI is a Bun program that ends before optimised code could pay for its compilation.
  process.env.BUN_JSC_useDFGJIT ??= '0'
  const { stop, ...server } = await startTestServer()
  project.provide('server', server)
  const run_folder = await mkdtemp(join(tmpdir(), 'watchpost-tests-'))
  project.provide('run_folder', run_folder)
  return async () => {
    await stop()
    await rm(run_folder, { recursive: true, force: true })
  }
}
