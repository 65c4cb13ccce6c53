import { Tokenizer } from 'htmlparser2'

/** How deep elements that strangers nest are looked at. */
export const MAX_DEPTH = 200
/**
 * How many tags of strangers are looked at. A parser compares each tag with those that are open, so all
 * of them may take time with the square of their number: 6,000 some 100 ms, 100,000 the better part of a
 * minute.
 */
const MAX_TAGS = 6000

const nothing = () => {}

/** withinLimits cuts HTML of strangers behind so many tags that a parser reads it in a fraction of a second. */
export function withinLimits(html: string): { html: string; is_cut: boolean } {
  let tags = 0
  let end = html.length
  const count = (from: number) => {
    tags += 1
    if (tags <= MAX_TAGS) return
    end = html.lastIndexOf('<', from)
    tokenizer.pause()
  }
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname: count,
      onclosetag: count,
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onopentagend: nothing,
      onprocessinginstruction: nothing,
      onselfclosingtag: nothing,
      ontext: nothing,
      ontextentity: nothing,
    },
  )
  tokenizer.write(html)
  return { html: html.slice(0, end), is_cut: end < html.length }
}
