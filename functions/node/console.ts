import { join } from 'node:path'
import type { Hono } from 'hono'
import { staticFiles } from '../../shared/static-files.ts'
import { type ConsoleSettings, consoleSettings } from '../console-settings.ts'
import type { Env } from '../context.ts'

/** The folder of the built console (scripts/build/build-web.ts). */
const FOLDER = join(import.meta.dirname, '../../dist/console')

/** Serves the console from disk to anybody: it holds no data. For Node; elsewhere the platform does it. */
export function consoleRoutes(settings: ConsoleSettings, folder = FOLDER): Hono<Env> {
  return consoleSettings(settings).get('/*', staticFiles(folder))
}
