type Line = Record<string, unknown>
export type Log = (line: Line) => void

/** Writes each log line as JSON or, with `text`, as a short sentence if it matters to a person. */
export function createLog(
  form: 'json' | 'text',
  write: (text: string) => void = createWriter(process.stdout),
): Log {
  return (line) => {
    const at = new Date().toISOString()
    if (form === 'json') return write(`${JSON.stringify({ at, ...line })}\n`)
    const sentence = describe(line)
    if (sentence) write(`${at.slice(11, 19)}  ${sentence}\n`)
  }
}

/**
 * Writes what one turn of the event loop logs at once, and the rest when the process ends: with a write for each line
 * a request costs Node 8 % more.
 */
function createWriter(stream: NodeJS.WriteStream): (text: string) => void {
  let pending = ''
  const flush = () => {
    const text = pending
    pending = ''
    if (text !== '') stream.write(text)
  }
  process.on('exit', flush)
  return (text) => {
    if (pending === '') setImmediate(flush)
    pending += text
  }
}

/** Logs JSON lines to the console, for platforms that collect its output. */
export const consoleLog: Log = (line) => console.log(JSON.stringify(line))

/** The sentence for a terminal; undefined for lines that are routine. */
function describe(line: Line): string | undefined {
  const { msg } = line
  if (msg === 'request') return describeRequest(line)
  if (msg === 'job') return describeJob(line)
  const { error } = line
  if (msg === 'heartbeat' && error === undefined) return undefined
  return error === undefined ? String(msg) : `${msg}: ${error}`
}

function describeRequest({ method, path, status, request_id }: Line): string | undefined {
  if (typeof status !== 'number' || status < 500) return undefined
  return `${method} ${path} answered ${status} (request ${request_id}; set LOG=json for details)`
}

function describeJob(line: Line): string | undefined {
  const { queue, source } = line
  if (line.outcome === 'failed') return `job of ${queue} failed: ${line.error}`
  if (line.feed_error !== undefined) return `${source}: ${line.feed_error}`
  if (queue === 'ingest' && !isReplay(source) && isSome(line.inserted)) {
    return `${source}: ${count(line.inserted, 'new event')}`
  }
  if (queue === 'match' && isSome(line.alerts)) {
    return `${source}: ${count(line.alerts, 'alert')} raised`
  }
  if (queue === 'deliver' && line.result !== undefined) return describeDelivery(line)
  return undefined
}

function describeDelivery({ kind, type, result, status, error, duration_ms }: Line): string {
  const answered = status === undefined ? '' : ` (HTTP ${status}, ${duration_ms} ms)`
  if (result === 'ok') return `${type} delivered by ${kind}${answered}`
  return `${type} not delivered by ${kind}${answered}: ${error ?? result}`
}

/** A replay stores events every second, so only its alerts are shown. */
function isReplay(source: unknown): boolean {
  return String(source).endsWith('-replay')
}

function isSome(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}

function count(value: number, thing: string): string {
  return value === 1 ? `1 ${thing}` : `${value} ${thing}s`
}
