import { marked, type Token, type Tokens } from 'marked'
import type { ReactNode } from 'react'

/**
 * Shows Markdown as React elements, made from marked's tokens. What a lead, a website or a model
 * wrote stays text: HTML in it is shown as text, links lead only to the web, and images are not
 * loaded.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="flex flex-col gap-3 leading-relaxed break-words">
      {blocks(marked.lexer(text))}
    </div>
  )
}

function blocks(tokens: Token[]): ReactNode[] {
  return tokens.map((token, at) => <Block key={at} token={token} />)
}

const HEADINGS = ['', 'text-xl mt-2', 'text-lg mt-3', 'text-base mt-2']

function Block({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      const { depth, tokens = [] } = token as Tokens.Heading // safe: told by its type
      // The page has its own h1 and h2.
      const Tag = depth <= 1 ? 'h3' : depth === 2 ? 'h4' : 'h5'
      return (
        <Tag className={`font-semibold ${HEADINGS[Math.min(depth, 3)]}`}>{inlines(tokens)}</Tag>
      )
    }
    case 'paragraph':
      return <p>{inlines(token.tokens ?? [])}</p>
    case 'text':
      return <div>{token.tokens ? inlines(token.tokens) : token.text}</div>
    case 'list': {
      const { ordered, start, items } = token as Tokens.List // safe: told by its type
      const Tag = ordered ? 'ol' : 'ul'
      return (
        <Tag
          {...(ordered && typeof start === 'number' ? { start } : {})}
          className={`flex flex-col gap-1 pl-5 ${ordered ? 'list-decimal' : 'list-disc'} marker:text-muted`}
        >
          {items.map((item, at) => (
            <Item key={at} item={item} />
          ))}
        </Tag>
      )
    }
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-line pl-4 text-muted">
          {blocks(token.tokens ?? [])}
        </blockquote>
      )
    case 'code':
      return (
        <pre className="overflow-x-auto rounded-panel border border-line bg-surface p-3 font-mono text-sm">
          <code>{token.text}</code>
        </pre>
      )
    case 'hr':
      return <hr className="border-line" />
    case 'table':
      return <Rows table={token as Tokens.Table} /> // safe: told by its type
    default:
      return <p className="whitespace-pre-wrap">{token.raw}</p>
  }
}

function Item({ item }: { item: Tokens.ListItem }) {
  return (
    <li className={item.task ? 'flex list-none gap-2 -ml-5' : undefined}>
      {item.task ? <span aria-hidden>{item.checked ? '☑' : '☐'}</span> : null}
      <div className="flex flex-col gap-1">
        {blocks(item.tokens.filter(({ type }) => type !== 'checkbox'))}
      </div>
    </li>
  )
}

function Rows({ table }: { table: Tokens.Table }) {
  const side = (align: string | null) =>
    align === 'right' ? 'text-right tabular-nums' : 'text-left'
  return (
    <div className="overflow-x-auto rounded-panel border border-line">
      <table className="w-full">
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th
                key={at}
                scope="col"
                className={`border-b border-line px-3 py-2 text-xs text-muted ${side(cell.align)}`}
              >
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at} className="not-last:[&>td]:border-b">
              {row.map((cell, at) => (
                <td key={at} className={`border-line px-3 py-2 align-top ${side(cell.align)}`}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inlines(tokens: Token[]): ReactNode[] {
  return tokens.map((token, at) => <Inline key={at} token={token} />)
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case 'text':
    case 'escape':
      return token.type === 'text' && token.tokens ? inlines(token.tokens) : decode(token.text)
    case 'strong':
      return <strong>{inlines(token.tokens ?? [])}</strong>
    case 'em':
      return <em>{inlines(token.tokens ?? [])}</em>
    case 'del':
      return <del>{inlines(token.tokens ?? [])}</del>
    case 'codespan':
      return (
        <code className="rounded-[4px] bg-hover px-1 font-mono text-sm">{decode(token.text)}</code>
      )
    case 'br':
      return <br />
    case 'link':
      return isWeb(token.href) ? (
        <a
          href={token.href}
          target="_blank"
          rel="noreferrer noopener"
          className="text-accent-text underline underline-offset-2"
        >
          {inlines(token.tokens ?? [])}
        </a>
      ) : (
        inlines(token.tokens ?? [])
      )
    case 'image':
      return <>{token.text}</>
    default:
      return token.raw
  }
}

const isWeb = (href: string) => /^https?:\/\//i.test(href) && URL.canParse(href)

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** marked writes some characters as entities, which React would show literally. */
function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
