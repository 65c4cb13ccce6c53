import { createServer, type Socket } from 'node:net'

/** A small IMAP4rev1 server with one mailbox, for what the hub asks: it only reads. */
export type ImapStandIn = {
  port: number
  /** Delivers a raw mail and answers its UID. */
  deliver(raw: string): number
  /** Gives every mail a new number, as a server does after a repair. */
  renumber(): void
  /** The commands seen, without their tags. */
  commands: string[]
  close(): Promise<void>
}

export async function startImap({ user = 'ayse', password = 'right' } = {}): Promise<ImapStandIn> {
  let validity = 1
  let next = 1
  let mails: { uid: number; raw: string }[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()

  // Answers are several small writes, which would each wait for the other side to acknowledge the one before.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const say = (line: string) => socket.write(`${line}\r\n`, 'latin1')
    say('* OK stand-in ready')
    let rest = ''
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const [, tag = '*', command = ''] = /^(\S+) (.*)$/.exec(line) ?? []
        commands.push(command)
        say(`${tag} ${answer(command, say)}`)
        if (command === 'LOGOUT') socket.end()
      }
    })
  })

  function answer(command: string, say: (line: string) => void): string {
    const [verb = ''] = command.toUpperCase().replace(/^UID /, 'UID-').split(' ')
    if (verb === 'CAPABILITY') say('* CAPABILITY IMAP4rev1')
    if (verb === 'LOGIN') {
      if (command !== `LOGIN "${user}" "${password}"`)
        return 'NO [AUTHENTICATIONFAILED] Wrong password'
    }
    if (verb === 'LIST') say('* LIST (\\HasNoChildren) "/" INBOX')
    if (verb === 'EXAMINE' || verb === 'SELECT') {
      if (!/ "?INBOX"?$/.test(command)) return 'NO [NONEXISTENT] No such mailbox'
      say(`* ${mails.length} EXISTS`)
      say('* FLAGS (\\Seen)')
      say(`* OK [UIDVALIDITY ${validity}] ok`)
      say(`* OK [UIDNEXT ${next}] ok`)
      return verb === 'EXAMINE' ? 'OK [READ-ONLY] done' : 'OK [READ-WRITE] done'
    }
    if (verb === 'UID-SEARCH') say(`* SEARCH ${search(command).join(' ')}`.trimEnd())
    if (verb === 'UID-FETCH') fetch(command, say)
    if (verb === 'LOGOUT') say('* BYE')
    return `OK ${verb} done`
  }

  function search(command: string): number[] {
    const from = /UID (\d+):\*/.exec(command)?.[1]
    if (!from) return mails.map(({ uid }) => uid)
    const found = mails.filter(({ uid }) => uid >= Number(from)).map(({ uid }) => uid)
    const last = mails.at(-1)?.uid
    return found.length || last === undefined ? found : [last]
  }

  function fetch(command: string, say: (line: string) => void) {
    const uid = Number(/^UID FETCH (\d+)/i.exec(command)?.[1])
    const at = mails.findIndex((mail) => mail.uid === uid)
    const raw = mails[at]?.raw
    if (raw === undefined) return
    const items = [`UID ${uid}`]
    const fields = /BODY\.PEEK\[HEADER\.FIELDS \(([^)]*)\)\]/i.exec(command)?.[1]
    if (/RFC822\.SIZE/i.test(command)) items.push(`RFC822.SIZE ${raw.length}`)
    if (/BODYSTRUCTURE/i.test(command)) items.push(`BODYSTRUCTURE ${structure(raw)}`)
    if (/ENVELOPE/i.test(command)) items.push(`ENVELOPE ${envelope(raw)}`)
    if (fields !== undefined) {
      items.push(`BODY[HEADER.FIELDS (${fields})] ${literal(pick(raw, fields.split(' ')))}`)
    }
    const part = /BODY\.PEEK\[\]<0\.(\d+)>/i.exec(command)?.[1]
    if (part) items.push(`BODY[]<0> ${literal(raw.slice(0, Number(part)))}`)
    say(`* ${at + 1} FETCH (${items.join(' ')})`)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (!address || typeof address === 'string') throw new Error('The stand-in has no port')
  return {
    port: address.port,
    commands,
    deliver(raw) {
      // One character a byte, so that the length of a literal is that of its text.
      const bytes = Buffer.from(raw.replace(/\r?\n/g, '\r\n')).toString('latin1')
      mails.push({ uid: next, raw: bytes })
      next += 1
      return next - 1
    },
    renumber() {
      validity += 1
      mails = mails.map((mail, index) => ({ ...mail, uid: index + 1 }))
      next = mails.length + 1
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

function literal(text: string): string {
  return `{${text.length}}\r\n${text}`
}

/** The structure of a mail as Dovecot tells it; names stay as they are encoded. */
function structure(raw: string): string {
  const [head = '', ...rest] = raw.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const fields = new Map(fieldsOf(`${head}\r\n\r\n`))
  const type = fields.get('content-type') ?? 'text/plain; charset=us-ascii'
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1]
  const [kind = 'text', sub = 'plain'] = (type.split(';')[0] ?? '').trim().split('/')
  if (boundary && kind.toLowerCase() === 'multipart') {
    const parts = body.split(new RegExp(`(?:^|\\r\\n)--${boundary}(?:--)?\\r?\\n?`)).slice(1, -1)
    return `(${parts.map(structure).join('')} "${sub}" ("boundary" "${boundary}") NIL NIL NIL)`
  }
  const disposition = fields.get('content-disposition')
  const shown = disposition
    ? `("${(disposition.split(';')[0] ?? '').trim()}" ${parameters(disposition)})`
    : 'NIL'
  const encoding = fields.get('content-transfer-encoding') ?? '7bit'
  // Of a mail without a text it counts the end of the head as well.
  const isHead = kind.toLowerCase() === 'message' && !body.includes('\r\n\r\n')
  const bytes = body.length + (isHead && sub.toLowerCase() === 'rfc822' ? 2 : 0)
  const lines = kind.toLowerCase() === 'text' ? ` ${body.split('\r\n').length}` : ''
  return `("${kind}" "${sub}" ${parameters(type)} NIL NIL "${encoding}" ${bytes}${lines} NIL ${shown} NIL NIL)`
}

function parameters(field: string): string {
  const found = [...field.matchAll(/;\s*([\w*-]+)=(?:"((?:[^"\\]|\\.)*)"|([^";]*))/g)]
  return found.length > 0
    ? `(${found.map(([, name, quoted, bare]) => `"${name}" "${quoted ?? bare}"`).join(' ')})`
    : 'NIL'
}

function fieldsOf(raw: string): [string, string][] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
  return head.split('\r\n').map((field) => {
    const colon = field.indexOf(':')
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
  })
}

function pick(raw: string, names: string[]): string {
  const wanted = names.map((name) => name.replaceAll('"', '').toLowerCase())
  const found = fieldsOf(raw).filter(([name]) => wanted.includes(name))
  return `${found.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

function envelope(raw: string): string {
  const fields = new Map(fieldsOf(raw))
  const text = (name: string) => {
    const value = fields.get(name)
    return value === undefined ? 'NIL' : `"${value.replace(/["\\]/g, '\\$&')}"`
  }
  const addresses = mailboxes(fields.get('from') ?? '')
  return `(${text('date')} ${text('subject')} ${addresses} ${addresses} ${addresses} NIL NIL NIL ${text('in-reply-to')} ${text('message-id')})`
}

/** As Dovecot tells them: each with its name, which may also stand in a comment behind it. */
function mailboxes(field: string): string {
  const [, group, members] = /^([^"<@:;]+):([^;]*);?$/.exec(field) ?? []
  if (group !== undefined) {
    const each = mailboxes(members ?? '').replace(/^\(|\)$|^NIL$/g, '')
    return `((NIL NIL "${group.trim()}" NIL)${each}(NIL NIL NIL NIL))`
  }
  const found = [
    ...field.matchAll(
      /(?:"([^"]*)"|([^,<"(]*?))\s*<([^\s<>@]+)@([^\s<>]+)>|([^\s<>@,]+)@([^\s<>,()]+)(?:\s*\(([^)]*)\))?/g,
    ),
  ]
  if (found.length === 0) return 'NIL'
  const quoted = (text: string | undefined) =>
    text ? `"${text.replace(/["\\]/g, '\\$&')}"` : 'NIL'
  const each = found.map(([, name, word, local, domain, bare, host, comment]) => {
    const called = quoted(name ?? (word?.trim() || comment))
    return `(${called} NIL ${quoted(local ?? bare)} ${quoted(domain ?? host)})`
  })
  return `(${each.join('')})`
}
