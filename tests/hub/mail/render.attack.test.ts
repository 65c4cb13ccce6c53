import { describe, expect, test } from 'vitest'
import {
  personalise,
  type Rendered,
  type RenderInput,
  render,
} from '../../../hub/mail/render/render.ts'
import { TEMPLATES, type TemplateName } from '../../../hub/mail/render/slots.ts'
import { PROOF, PROOF_MS, reportProof } from '../../support/proof.ts'
import { execute, SafeHtml } from './go-template.ts'
import { GENERIC } from './listmonk/listmonk-state.ts'
import { mail } from './mails.ts'

/** What a lead, a model or a settings page could say to get markup, code or a header into a mail. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' style='x' onload='y",
  '<mj-include path="/etc/passwd" />',
  '</mj-text><mj-raw><script>1</script></mj-raw>',
  '{{ .Subscriber.Email }}',
  '{{`{{`}} {{/* */}}',
  '{unsubscribe_url} {track_view}',
  '<!-- x --> --!> ]]> <![endif]-->',
  'https://x.example@TrackLink',
  'a\r\nBcc: everybody@x.example\u2028b',
  '&lt;b&gt; &#60;i&#62; \u202ereversed',
]
const FUNCTIONS = {
  ...GENERIC,
  UnsubscribeURL: () => 'https://list.example/u',
  TrackLink: (url: unknown) => `https://list.example/link?to=${url}`,
  TrackView: () => new SafeHtml(''),
}
const PERSONAL = ['first_name', 'name', 'company'] as const
/** Texts that take fewer characters than the hostile ones have. */
const ROOM: Record<string, number> = {
  'slots.event.agenda.0.time': 20,
  'slots.event.agenda.1.time': 20,
}
const unsubscribe_url = 'https://hub.example/u/t0ken?a=1&b=2'

type Place = { path: string; put: (input: RenderInput, text: string) => RenderInput }

/** Every text of a mail: the slots, the signature, the brand and the footer. */
function places(template: TemplateName): Place[] {
  const { slots, signature, branding, footer } = mail(template)
  return textsIn({ slots, signature, branding, footer })
    .filter((path) => !/url$|color$|^branding\.logo/.test(path))
    .map((path) => ({
      path,
      put: (input, text) => setAt(input, path.split('.'), text.slice(0, ROOM[path])),
    }))
}

function textsIn(value: unknown, path: string[] = []): string[] {
  if (typeof value === 'string') return [path.join('.')]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, key]))
}

function setAt<T>(value: T, [key = '', ...rest]: string[], text: string): T {
  const copy = structuredClone(value) as Record<string, unknown> // safe: the path leads through objects and lists
  copy[key] = rest.length > 0 ? setAt(copy[key], rest, text) : text
  return copy as T // safe: the same shape, with another text
}

/** Tags with their attributes' names, as a browser would find them. */
function structure(html: string): string[] {
  return [
    ...html
      .replace(/<!--[\s\S]*?-->/g, '')
      .matchAll(/<([a-z][a-z0-9]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/gi),
  ].map(([, name = '', attributes = '']) =>
    [
      name,
      ...attributes
        .replace(/="[^"]*"/g, '')
        .split(/\s+/)
        .filter(Boolean),
    ].join(' '),
  )
}

/** What a subscriber of listmonk gets; whatever is not ours to execute is an error. */
function asListmonk({ subject, html, text }: Rendered) {
  const context = {
    fields: { Subscriber: { FirstName: 'Jo' } },
    functions: FUNCTIONS,
  }
  return {
    subject: execute(subject, context, 'text'),
    html: execute(html, context, 'html'),
    text: execute(text, context, 'html'),
  }
}

/** Each place with each hostile text; in the short form one text a place, another one each time. */
function cases<T>(list: readonly T[]): { place: T; text: string }[] {
  return list.flatMap((place, index) =>
    HOSTILE.filter((_, at) => PROOF || at === index % HOSTILE.length).map((text) => ({
      place,
      text,
    })),
  )
}

describe.each(TEMPLATES)('the template %s', (template) => {
  test('takes hostile words in each of its texts as words, for a mailbox and for listmonk', {
    timeout: PROOF ? PROOF_MS : 30_000,
  }, async () => {
    const plain = structure((await render(mail(template))).html)
    let renderings = 0
    for (const { place, text } of cases(places(template))) {
      const input = place.put(mail(template), text)
      const what = `${place.path}: ${text}`
      const own = personalise(await render(input), { first_name: 'Jo', unsubscribe_url })
      const theirs = asListmonk(await render(input, { target: 'listmonk' }))
      renderings += 2
      expect(structure(own.html), what).toEqual(plain)
      expect(structure(theirs.html), what).toEqual(plain)
      for (const { subject } of [own, theirs]) expect(subject, what).not.toMatch(/[\r\n\u2028]/)
      expect(theirs.subject, what).toBe(own.subject)
      // One way out, and it is ours.
      expect(own.html.split('https://hub.example/u/t0ken').length, what).toBe(2)
      expect(theirs.html.split('https://list.example/u').length, what).toBe(2)
      expect(own.html + theirs.html, what).not.toContain('root:')
    }
    reportProof(`hostile words in ${template}`, { renderings })
  })

  test('takes a hostile recipient as words', { timeout: PROOF ? PROOF_MS : 30_000 }, async () => {
    const input = mail(template)
    const slots = setAt(input.slots, ['preheader'], 'For {first_name}, {name} of {company}')
    const rendered = await render({ ...input, slots })
    const plain = structure(personalise(rendered, { first_name: 'Jo', unsubscribe_url }).html)
    let renderings = 0
    for (const { place, text } of cases(PERSONAL)) {
      const { html, subject } = personalise(rendered, { [place]: text, unsubscribe_url })
      renderings += 1
      expect(structure(html), `${place}: ${text}`).toEqual(plain)
      expect(subject, `${place}: ${text}`).not.toMatch(/[\r\n\u2028]/)
      expect(html.split('https://hub.example/u/t0ken').length, `${place}: ${text}`).toBe(2)
    }
    reportProof(`hostile recipients of ${template}`, { renderings })
  })
})
