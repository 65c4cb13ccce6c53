import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { environment, UsageError } from '../start/arguments.ts'
import { runningPostgres, startPostgres } from './postgres.ts'

/** Where an operator's command finds its Watchpost: as given on the command line. */
export type Place = { dataDir: string | undefined; databaseUrl: string | undefined }
type Found = { adminUrl: string; close: () => Promise<void> }

/** folderOf returns the data folder of a place; with a database of one's own it holds the secrets. */
export const folderOf = ({ dataDir }: Place): string => dataDir ?? '.data'

/** isEmbedded returns whether the database is the embedded one in the data folder. */
export function isEmbedded(place: Place): boolean {
  return urlOf(place) === undefined
}

/**
 * findDatabase connects to a database of one's own, to the embedded one that runs, or starts it. An
 * embedded one that does not exist yet is created if `create` is true; otherwise it throws.
 */
export async function findDatabase(place: Place, { create = false } = {}): Promise<Found> {
  const url = urlOf(place)
  const close = async () => {}
  if (url) return { adminUrl: url, close }
  const folder = folderOf(place)
  const running = runningPostgres(folder)
  if (running) return { adminUrl: running.adminUrl, close }
  if (!create && !existsSync(join(folder, 'postgres'))) {
    throw new Error(
      `There is no Watchpost in ${relative('.', folder) || folder}. Start it once (npm start), or choose another folder with --data-dir.`,
    )
  }
  const server = await startPostgres({ dataDir: folder, log: (line) => console.error(line) })
  return { adminUrl: server.adminUrl, close: server.stop }
}

function urlOf({ dataDir, databaseUrl }: Place): string | undefined {
  if (dataDir && databaseUrl) {
    throw new UsageError('Give --data-dir or --database-url, not both. See npm run admin -- --help')
  }
  return databaseUrl ?? (dataDir ? undefined : environment().DATABASE_URL || undefined)
}
