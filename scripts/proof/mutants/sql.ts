/** One small fault: a piece of text and its replacement. */
export type Fault = { at: number; was: string; now: string }

type Token = { text: string; at: number; kind: 'word' | 'number' | 'text' | 'sign' | 'hole' }

const BLANK = /(?:\s|--[^\n]*|\/\*[\s\S]*?\*\/)+/y
const PART =
  /(?<text>'(?:[^']|'')*')|(?<word>"[^"]*"|[a-z_]\w*)|(?<number>\d+(?:\.\d+)?)|\$\w*\$|::|:=|=>|<>|<=|>=|!=|!~|->>|->|@>|<@|&&|\|\||[\s\S]/iy

/** The tokens of SQL; a `${…}` of a template is a single token. */
function tokensOf(sql: string): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < sql.length; ) {
    if (sql.startsWith('${', at)) {
      const end = endOfHole(sql, at)
      tokens.push({ text: sql.slice(at, end), at, kind: 'hole' })
      at = end
      continue
    }
    BLANK.lastIndex = at
    at += BLANK.exec(sql)?.[0].length ?? 0
    if (sql.startsWith('${', at)) continue
    PART.lastIndex = at
    const found = PART.exec(sql)
    if (!found) break
    const kind = (['text', 'word', 'number'] as const).find((one) => found.groups?.[one])
    tokens.push({ text: found[0], at, kind: kind ?? 'sign' })
    at += found[0].length
  }
  return tokens
}

function endOfHole(text: string, from: number): number {
  let depth = 0
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}') depth -= 1
    if (depth === 0) return at + 1
  }
  return text.length
}

const SWAPS: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '<>': '=',
  '!=': '=',
  least: 'greatest',
  greatest: 'least',
  min: 'max',
  max: 'min',
  true: 'false',
  false: 'true',
  desc: 'asc',
}
/** After these tokens, a number is a limit. */
const BEFORE_LIMIT = ['<', '<=', '>', '>=', '=', '=>', 'limit', 'between', 'and']
const CLAUSES =
  /^(select|where|set|on|having|when|values|from|returning|then|else|if|using|check|do|begin|end)$/
/** Statements at the top level of a file that can be removed completely. */
const REMOVABLE =
  /^(grant|revoke|create trigger|create constraint trigger|alter table \S+ (enable|force) row level)/

/**
 * faultsIn lists small faults in SQL, one at a time: inverted or shifted conditions, `and` for
 * `or`, limits and intervals that are longer by one, and removed policies, checks, grants, locks
 * and unique indexes.
 */
export function faultsIn(sql: string): Fault[] {
  const faults: Fault[] = []
  const tokens = tokensOf(sql)
  const word = (index: number) => tokens[index]?.text.toLowerCase() ?? ''
  /** Replaces the text from one token to another. */
  const replace = (first: number, last: number, now: string) => {
    const [from, to] = [tokens[first], tokens[last]]
    if (!from || !to) return
    const was = sql.slice(from.at, to.at + to.text.length)
    if (was !== now) faults.push({ at: from.at, was, now })
  }
  const closing = (open: number) => {
    let depth = 0
    for (let index = open; index < tokens.length; index += 1) {
      if (word(index) === '(') depth += 1
      if (word(index) === ')') depth -= 1
      if (depth === 0) return index
    }
    return tokens.length - 1
  }
  let begin = 0
  let isBetween = false
  /** For each enclosing bracket and `case`: the clause that it is in. */
  const around = [{ clause: '', opened: '' }]

  for (const [index, token] of tokens.entries()) {
    const text = word(index)
    const [before, after] = [word(index - 1), word(index + 1)]
    if (text === '(' || text === 'case') around.push({ clause: '', opened: text })
    const inner = around.at(-1)
    if (inner && inner.opened === (text === ')' ? '(' : text === 'end' ? 'case' : text)) {
      if (text !== inner.opened) around.pop()
    } else if (inner && token.kind === 'word' && CLAUSES.test(text)) inner.clause = text
    if (text === ';') {
      around.splice(0, around.length, { clause: '', opened: '' })
      const statement = tokens
        .slice(begin, index)
        .map((one) => one.text.toLowerCase())
        .join(' ')
      if (REMOVABLE.test(statement.replaceAll(' . ', '.'))) replace(begin, index, ';')
      begin = index + 1
    }
    const first = `${word(begin)} ${word(begin + 1)}`
    const isTable = /^(create table|alter table|create domain)$/.test(first)
    // Which rows an index holds changes the time that answers take, not the answers.
    if (first === 'create index') continue

    if (text === 'between') isBetween = true
    if (text === 'and') {
      if (!isBetween) replace(index, index, 'or')
      isBetween = false
    }
    const isOfTrigger = /^(insert|update|delete|truncate|before|after)$/.test(before)
    if (text === 'or' && before !== 'create' && !isOfTrigger) replace(index, index, 'and')
    if (text === '=' && around.at(-1)?.clause !== 'set') replace(index, index, '<>')
    if (text === 'is' && after === 'null') replace(index, index + 1, 'is not null')
    if (text === 'is' && after === 'distinct') replace(index, index, 'is not')
    if (text === 'is' && after === 'not') replace(index, index + 1, 'is')
    if (text === 'exists' && before === 'not' && word(index - 2) !== 'if') {
      replace(index - 1, index, 'exists')
    }
    if (text === 'exists' && before !== 'not' && before !== 'if')
      replace(index, index, 'not exists')
    if (text === 'in' && after === '(' && before === 'not') replace(index - 1, index, 'in')
    if (text === 'in' && after === '(' && before !== 'not') replace(index, index, 'not in')
    if (text === '~') replace(index, index, '!~')
    const isCall = !/^(least|greatest|min|max)$/.test(text) || (after === '(' && before !== '.')
    const isOfIndex = text === 'desc' && first === 'create unique'
    const swap = Object.hasOwn(SWAPS, text) && isCall && !isOfIndex ? SWAPS[text] : undefined
    if (swap && token.kind !== 'text') replace(index, index, swap)
    if (
      token.kind === 'number' &&
      BEFORE_LIMIT.includes(before) &&
      `${before} ${text}` !== 'limit 1'
    ) {
      replace(index, index, String(Number(text) + 1))
    }
    const span = /^'(\d+)( ?[a-z]+)'$/.exec(text)
    if (span && before === 'interval') {
      replace(index, index, `'${Number(span[1]) + 1}${span[2]}'`)
    }
    if (text === 'for' && after === 'update') replace(index, index + 1, '')
    if (text === 'skip' && after === 'locked') replace(index, index + 1, '')
    if (text === 'security' && after === 'definer') replace(index, index + 1, '')
    if (text === 'unique' && before === 'create') replace(index, index, '')
    if (text === 'delete' && before === 'on' && after === 'cascade') {
      replace(index + 1, index + 1, 'restrict')
    }
    const isPolicy = first === 'create policy' && (text === 'using' || text === 'check')
    if (after === '(' && (isPolicy || (isTable && text === 'check'))) {
      replace(index + 1, closing(index + 1), '(true)')
    }
  }
  return faults
}

/** The SQL in TypeScript: templates tagged `sql` or given to `query`; where each begins, its SQL and its end. */
export function templatesIn(source: string): { from: number; at: number; sql: string }[] {
  const found: { from: number; at: number; sql: string }[] = []
  for (const { index, 0: tag } of source.matchAll(
    /\b(?:sql|query\(\s*|query<[^`]*?>\(\s*|sql<[^`]*?>)`/g,
  )) {
    const at = index + tag.length
    let end = at
    while (end < source.length && source[end] !== '`') {
      if (source.startsWith('${', end)) end = endOfHole(source, end)
      else end += source[end] === '\\' ? 2 : 1
    }
    found.push({ from: tag.startsWith('sql') ? index : at - 1, at, sql: source.slice(at, end) })
  }
  return found
}

/** Read by the switches of StrykerJS as well, see switched-runner.ts. */
const SWITCH = `
function isOn_sql(id) {
  return globalThis.__stryker__?.activeMutant === id
}
function count_sql(...ids) {
  const { currentTestId, ...ns } = globalThis.__stryker__ ?? {}
  if (!currentTestId) return
  const counts = ((globalThis.__stryker__.mutantCoverage ??= { perTest: {} }).perTest[currentTestId] ??= {})
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1
}
`

/** TypeScript with all faults in its SQL, each behind a switch, and these by their switches. */
export function withSwitchedSql(source: string) {
  const switches = new Map<string, Fault>()
  const templates = templatesIn(source)
  const render = (from: number, to: number): string => {
    let [written, text] = [from, '']
    for (const { from: start, at, sql } of templates) {
      const end = at + sql.length + 1
      if (start < written || end > to) continue
      const faults = faultsIn(sql).map((fault) => ({ ...fault, at: at + fault.at }))
      const ids = faults.map((fault) => {
        switches.set(`sql-${switches.size}`, fault)
        return `'sql-${switches.size - 1}'`
      })
      const forms = faults.map(
        (fault, index) =>
          `isOn_sql(${ids[index]}) ? ${source.slice(start, fault.at)}${fault.now}${source.slice(fault.at + fault.was.length, end)} : `,
      )
      const right = `${source.slice(start, at)}${render(at, end - 1)}\``
      text += source.slice(written, start)
      text +=
        faults.length > 0 ? `(count_sql(${ids.join(', ')}), ${forms.join('')}${right})` : right
      written = end
    }
    return text + source.slice(written, to)
  }
  return { content: render(0, source.length) + SWITCH, switches }
}

/** All faults of a file: of SQL, or of the SQL in TypeScript. */
export function faultsOf(file: string, source: string): Fault[] {
  if (file.endsWith('.sql')) return faultsIn(source)
  return templatesIn(source).flatMap(({ at, sql }) =>
    faultsIn(sql).map((fault) => ({ ...fault, at: at + fault.at })),
  )
}
