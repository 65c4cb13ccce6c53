import fc from 'fast-check'
import { simpleParser } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  MAX_HTML_BYTES,
  personalise,
  type RenderInput,
  render,
} from '../../../hub/mail/render/render.ts'
import { SLOTS, TEMPLATE_PURPOSE, TEMPLATES } from '../../../hub/mail/render/slots.ts'
import { execute, SafeHtml } from './go-template.ts'
import { GENERIC } from './listmonk/listmonk-state.ts'
import { mail } from './mails.ts'

const unsubscribe_url = 'https://hub.example/u/t0ken?a=1&b=2'

const FUNCTIONS = { ...GENERIC, UnsubscribeURL: () => '' }

/** What a subscriber of listmonk gets; anything but our expressions is an error. */
function asListmonk(source: string, kind: 'text' | 'html', FirstName = 'Jo') {
  return execute(
    source,
    {
      fields: { Subscriber: { FirstName } },
      functions: {
        ...GENERIC,
        UnsubscribeURL: () => 'https://list.example/u',
        TrackLink: (url) => `https://list.example/link?to=${url}`,
        TrackView: () => new SafeHtml('<img src="https://list.example/px" alt="">'),
      },
    },
    kind,
  )
}

/** Tags and attributes as a browser would find them, without a browser. */
function tags(html: string) {
  return [
    ...html
      .replace(/<!--[\s\S]*?-->/g, '')
      .matchAll(/<([a-z][a-z0-9]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/gi),
  ].map(([, name = '', attributes = '']) => ({ name: name.toLowerCase(), attributes }))
}

function withText(text: string): RenderInput {
  const given = mail('letter')
  return {
    ...given,
    slots: { ...(given.slots as object), subject: text, greeting: text, paragraphs: [text] },
  } // safe: an object above
}

describe.each(TEMPLATES)('the template %s', (template) => {
  test('renders both parts with the footer the law asks for', async () => {
    const input = mail(template)
    const { html, text, subject, bytes } = personalise(await render(input), {
      first_name: 'Jo',
      unsubscribe_url,
    })
    expect(subject.length).toBeGreaterThan(5)
    expect(bytes).toBe(Buffer.byteLength(html))
    expect(bytes).toBeLessThan(40_000)
    expect(html).toContain('href="https://hub.example/u/t0ken?a=1&amp;b=2"')
    for (const part of [html.replaceAll('&#39;', "'"), text.replace(/\s+/g, ' ')]) {
      expect(part).toContain(input.footer.postal_address)
      expect(part).toContain(input.footer.reason)
      expect(part).toContain(input.lang === 'tr' ? 'Abonelikten çık' : 'Unsubscribe')
      expect(part).not.toContain('{first_name}')
      expect(part).not.toContain('undefined')
    }
    expect(text).toContain(unsubscribe_url)
    expect(html).toContain(`<html lang="${input.lang}"`)
    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(html).toContain('<!--[if mso | IE]>')
    expect(html).not.toMatch(/fonts\.googleapis|<script|<link/)
  })

  test('renders the same bytes every time', async () => {
    const [first, second] = [await render(mail(template)), await render(mail(template))]
    expect(second).toEqual(first)
  })

  test('has bounds on every slot, and the model can be bound to its schema', () => {
    const schema = JSON.stringify(z.toJSONSchema(SLOTS[template], { io: 'input' }))
    const texts = schema.match(/"type":"string"/g)?.length ?? 0
    expect(schema.match(/"maxLength":\d+/g)).toHaveLength(texts)
    expect(schema.match(/"maxItems":\d+/g)?.length ?? 0).toBe(
      schema.match(/"type":"array"/g)?.length ?? 0,
    )
    expect(TEMPLATE_PURPOSE[template].tr).not.toBe(TEMPLATE_PURPOSE[template].en)
  })

  test('becomes a campaign that runs and says the same', async () => {
    const { html, text, subject } = await render(mail(template), {
      target: 'listmonk',
      track_opens: true,
      track_clicks: true,
    })
    const sent = asListmonk(html, 'html')
    expect(sent).toContain('href="https://list.example/u"')
    expect(sent).toContain('https://list.example/px')
    expect(sent).toContain('<!--[if mso | IE]>')
    for (const url of JSON.stringify(mail(template).slots).match(/https:[^"]*/g) ?? []) {
      const tracked = `href="https://list.example/link?to=${url.replaceAll('&', '&amp;')}"`
      expect(sent).toContain(tracked)
    }
    expect(asListmonk(subject, 'text')).toBe(mailSubject(template))
    expect(asListmonk(text, 'html')).toContain('<https://list.example/u>')
  })
})

function mailSubject(template: (typeof TEMPLATES)[number]) {
  return z.object({ subject: z.string() }).parse(mail(template).slots).subject
}

describe('what a slot says', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      "' style='x' onload='y",
      '<mj-include path="/etc/passwd" />',
      '</mj-text><mj-raw><script></mj-raw>',
      '{{ .Subscriber.Email }}',
      '{{`{{`}}',
      '{{first_name}} {{{first_name}',
      '{unsubscribe_url} {track_view}',
      '<!-- --> --!> ]]>',
      'https://x.example@TrackLink',
      '&lt;b&gt; &amp; &#60;i&#62;',
      '{{/* */}} }} {{',
    ),
  )
  const texts = fc
    .array(nasty, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join(' ').slice(0, 70))
    .filter((text) => /[\p{L}\p{N}]/u.test(text))

  test('adds no tag and no attribute', async () => {
    const plain = tags((await render(withText('Plain words'))).html).map(({ name }) => name)
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { html } = await render(withText(text))
        const found = tags(html)
        expect(found.map(({ name }) => name)).toEqual(plain)
        for (const { attributes } of found) {
          const names = [...attributes.replace(/="[^"]*"/g, '').matchAll(/\S+/g)].map(
            ([name]) => name,
          )
          expect(names.filter((name) => /^on|^srcdoc|^formaction/i.test(name))).toEqual([])
        }
      }),
      { numRuns: 40 },
    )
  })

  test('is read as it was written, in both parts and by both ways', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const input = withText(`a${text}z`)
        const own = personalise(await render(input), { first_name: 'Jo', unsubscribe_url })
        const { html, text: alt, subject } = await render(input, { target: 'listmonk' })
        const theirs = {
          html: asListmonk(html, 'html'),
          text: asListmonk(alt, 'html'),
          subject: asListmonk(subject, 'text'),
        }
        expect(theirs.subject).toBe(own.subject)
        expect(theirs.text.replace(/<https:[^>]*>/, '')).toBe(own.text.replace(/<https:[^>]*>/, ''))
        const shown = (source: string) =>
          source.slice(source.indexOf('<body')).replace(/href="[^"]*"/, '')
        expect(shown(theirs.html)).toBe(shown(own.html))
        for (const source of [html, alt, subject]) expect(unknownExpressions(source)).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  test('survives the way through a mail parser', async () => {
    const { html } = await render(withText('1 < 2 & "x" {{ y }}'))
    const mail = await simpleParser(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`)
    expect(mail.text).toContain('1 < 2 & "x" {{ y }}')
  })
})

/** Expressions other than ours. */
function unknownExpressions(source: string) {
  const ours =
    /\{\{(?: \.Subscriber\.FirstName | UnsubscribeURL | TrackView | TrackLink "[^"]*" | Safe \.Subscriber\.FirstName | Safe "(?:[^"\\]|\\.)*" |"\{\{"|"@")\}\}/g
  return source.replace(ours, '').match(/\{\{/g) ?? []
}

describe('links', () => {
  test.each([
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    'https://user:secret@demir.example/',
    '//demir.example',
    'demir.example',
    '',
  ])('%j is refused', async (url) => {
    const given = mail('offer')
    const slots = { ...(given.slots as object), button: { label: 'Go', url } } // safe: an object above
    await expect(render({ ...given, slots })).rejects.toMatchObject({ code: 'invalid_slots' })
  })

  test.each([
    ['https://d.example/a"b\'c<d>{{e}}`', 'https://d.example/a%22b%27c%3Cd%3E%7B%7Be%7D%7D%60'],
    ['https://d.example/?q={{x}}|^\\&r=1', 'https://d.example/?q=%7B%7Bx%7D%7D%7C%5E%5C&amp;r=1'],
    ['https://d.example/x@TrackLink', 'https://d.example/x%40TrackLink'],
    ['mailto:jo@d.example?subject=Hi%20there', 'mailto:jo@d.example?subject=Hi%20there'],
  ])('%j becomes %j', async (url, href) => {
    const given = mail('offer')
    const slots = { ...(given.slots as object), button: { label: 'Go', url } } // safe: an object above
    expect((await render({ ...given, slots })).html).toContain(`href="${href}"`)
  })
})

describe('personal fields', () => {
  test('are filled for the recipient, and an empty one leaves no gap', async () => {
    const rendered = await render(mail('letter'))
    expect(rendered.text).toContain('Dear {first_name},')
    expect(personalise(rendered, { first_name: 'Jo', unsubscribe_url }).text).toContain('Dear Jo,')
    expect(personalise(rendered, { first_name: null, unsubscribe_url }).text).toMatch(/^Dear,\n/)
  })

  test('cannot bring markup, headers or other fields in', async () => {
    const rendered = await render(withText('Hi {first_name}'))
    const first_name = '<b>Jo</b>\r\nBcc: x@y.example {unsubscribe_url} {{ .X }}'
    const { html, subject } = personalise(rendered, { first_name, unsubscribe_url })
    expect(subject).toBe('Hi <b>Jo</b> Bcc: x@y.example unsubscribe_url {{ .X }}')
    expect(html).toContain(
      'Hi &lt;b&gt;Jo&lt;/b&gt; Bcc: x@y.example unsubscribe_url &#123;&#123; .X &#125;&#125;',
    )
  })

  test('of a mail to one lead are filled before it is approved', async () => {
    const recipient = { first_name: 'Jo', company: 'Client {{ .X }}' }
    const own = await render(withText('For {first_name} of {{company}}'), {
      target: 'smtp',
      recipient,
    })
    expect(own.subject).toBe('For Jo of Client {{ .X }}')
    expect(own.html).toContain('{unsubscribe_url}')
    const theirs = await render(withText('For {company}'), { target: 'listmonk', recipient })
    expect(asListmonk(theirs.subject, 'text')).toBe('For Client {{ .X }}')
  })

  test.each([
    ["O'Neil & Sons", "Hi O'Neil & Sons,", 'Hi O&#39;Neil &amp; Sons,'],
    ['', 'Hi,', 'Hi,'],
    [undefined, 'Hi,', 'Hi,'],
  ])('of a campaign are what the attribute %j says', async (x, text, html) => {
    const options = { target: 'listmonk', first_name_attribute: 'x' } as const
    const mail = await render(withText('Hi {first_name}'), options)
    const context = {
      fields: { Subscriber: { FirstName: 'Dr.', Attribs: x === undefined ? {} : { x } } },
      functions: FUNCTIONS,
    }
    expect(execute(mail.subject, context, 'text')).toBe(text.slice(0, -1))
    expect(execute(mail.text, context, 'html')).toContain(text)
    expect(execute(mail.html, context, 'html')).toContain(html)
    const wrong = { ...options, first_name_attribute: 'a b }} {{ .Email' }
    await expect(render(withText('x'), wrong)).rejects.toThrow(RangeError)
  })

  test('that listmonk cannot fill stop a campaign', async () => {
    const campaign = render(withText('For {company}'), { target: 'listmonk' })
    await expect(campaign).rejects.toMatchObject({
      code: 'personal_field',
      message: expect.stringMatching(/\{company\}/),
    })
  })
})

describe('bounds', () => {
  test('faults of slots are named', async () => {
    const given = mail('letter')
    const slots = {
      ...(given.slots as object),
      subject: 'x'.repeat(151),
      paragraphs: [],
      html: '<b>',
    } // safe: an object above
    const failure = await render({ ...given, slots }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'invalid_slots' })
    expect(failure).toHaveProperty('issues')
    const { issues } = z.object({ issues: z.array(z.object({ path: z.string() })) }).parse(failure)
    expect(issues.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['subject', 'paragraphs']),
    )
  })

  test('a mail Gmail would cut is refused with its size', async () => {
    const many = '&'.repeat(890)
    const section = { heading: 'H', paragraphs: [many, many, many] }
    const slots = {
      subject: 'S',
      preheader: 'P',
      title: 'T',
      intro: 'I',
      sections: Array(6).fill(section),
    }
    const branding = { name: 'Demir', logo: `data:image/png;base64,${'A'.repeat(39_000)}` }
    const input = mail('newsletter', { slots, branding })
    await expect(render(input)).rejects.toMatchObject({
      code: 'too_large',
      message: new RegExp(`${MAX_HTML_BYTES}`),
    })
  })

  test.each([
    'http://d.example/l.png',
    'data:image/svg+xml;base64,AAAA',
    'data:text/html;base64,AAAA',
    'javascript:1',
  ])('the logo %s is refused', async (logo) => {
    await expect(render(mail('letter', { branding: { name: 'D', logo } }))).rejects.toThrow()
  })

  test('a mail without address or reason is refused', async () => {
    const footer = { postal_address: ' ', reason: 'x' }
    await expect(render(mail('letter', { footer }))).rejects.toThrow(/postal_address/)
  })
})
