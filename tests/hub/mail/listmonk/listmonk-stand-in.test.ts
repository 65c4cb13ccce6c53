import type { AddressInfo } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { firstNameAttribute, listmonk } from '../../../../hub/mail/listmonk/listmonk.ts'
import { render } from '../../../../hub/mail/render/render.ts'
import { mail, PRICES, until } from './listmonk-mail.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk-stand-in.ts'

let standIn: ListmonkStandIn
beforeAll(async () => {
  standIn = await startListmonk()
})
afterAll(() => standIn.close())

describe('what the stand-in sends', () => {
  test('is the mail as approved: fields filled, nothing of ours executed', async () => {
    const client = listmonk(standIn)
    const list = await client.ensureList({ name: 'Mails', tag: 'mails' })
    const recipient = {
      email: 'jo@client.example',
      name: "O'Neil <b> Doe",
      list_id: list.id,
      attribs: {},
    }
    await client.subscribe(recipient)
    const made = await client.createCampaign({
      name: 'Mails',
      list_ids: [list.id],
      from_email: 'ayse@demir.example',
      rendered: await render(mail, { target: 'listmonk', track_opens: true }),
      template_id: await client.ensureTemplate('campaign'),
    })
    await client.setCampaignStatus(made.id, 'running')
    await until(
      () => client.getCampaign(made.id),
      (now) => now.status === 'finished',
    )
    const [message] = standIn.state.messages.filter((each) => each.campaign_id === made.id)
    expect(message).toMatchObject({ to: 'jo@client.example', subject: "A question, O'Neil" })
    expect(message?.text.replace(/\s+/g, ' ')).toContain(PRICES)
    expect(message?.text).toContain("Hello O'Neil,")
    expect(message?.html).toContain('Prices are &#123;&#123; .Secret &#125;&#125;')
    expect(message?.html).toContain('Hello O&#39;Neil,')
    expect(message?.html).toContain('<!--[if mso | IE]>')
    expect(message?.html).toContain('px.png')
    const link = /href="([^"]*\/subscription\/[^"]*)"/.exec(message?.html ?? '')?.[1] ?? ''
    expect(message?.headers['List-Unsubscribe']).toBe(`<${link}>`)

    expect((await fetch(link)).status).toBe(200)
    expect(await client.unsubscribed(list.id)).toEqual([])
    await fetch(link, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    })
    expect((await client.unsubscribed(list.id)).map((each) => each.email)).toEqual([
      'jo@client.example',
    ])
    expect((await client.subscribe(recipient)).kind).toBe('unsubscribed')
    const other = await client.ensureList({ name: 'Other', tag: 'other' })
    expect((await client.subscribe({ ...recipient, list_id: other.id })).kind).toBe('unsubscribed')
  })

  test('really goes out when a mail server is given', async () => {
    const received: string[] = []
    const smtp = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      onData(stream, _session, callback) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          received.push(Buffer.concat(chunks).toString('utf8'))
          callback(null)
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    const { port } = smtp.server.address() as AddressInfo // safe: it listens on TCP
    const sending = await startListmonk({ smtp: { host: '127.0.0.1', port } })
    const client = listmonk(sending)
    const list = await client.ensureList({ name: 'Sent', tag: 'sent' })
    const jo = {
      email: 'jo@client.example',
      name: 'Doe, Jo',
      list_id: list.id,
      attribs: { watchpost_demir_first_name: 'Jo' },
    }
    await client.subscribe(jo)
    const made = await client.createCampaign({
      name: 'Sent',
      list_ids: [list.id],
      from_email: 'ayse@demir.example',
      rendered: await render(mail, {
        target: 'listmonk',
        first_name_attribute: firstNameAttribute('demir'),
      }),
      template_id: await client.ensureTemplate('campaign'),
    })
    await client.setCampaignStatus(made.id, 'running')
    await until(
      () => client.getCampaign(made.id),
      (now) => now.status === 'finished',
    )
    const arrived = await simpleParser(received[0] ?? '')
    expect(arrived.subject).toBe('A question, Jo')
    expect(arrived.text).toContain('Hello Jo,')
    expect(arrived.html).toContain('Hello Jo,')
    expect(arrived.to).toMatchObject({ value: [{ address: 'jo@client.example' }] })
    expect(arrived.headers.get('list')).toMatchObject({
      unsubscribe: { url: expect.stringContaining('/subscription/') },
    })
    await sending.close()
    await new Promise<void>((resolve) => smtp.close(resolve))
  })

  test('a hard bounce is polled with its campaign, and blocklists', async () => {
    const client = listmonk(standIn)
    const [campaign] = standIn.state.campaigns.values()
    const list = await client.ensureList({ name: 'Bounces', tag: 'bounces' })
    await client.subscribe({
      email: 'gone@client.example',
      name: 'G',
      list_id: list.id,
      attribs: {},
    })
    // One of no campaign, which is not asked for.
    standIn.bounce('gone@client.example', 'soft')
    standIn.bounce('gone@client.example', 'hard', campaign?.id)
    expect(await client.bounces(campaign?.id)).toMatchObject([
      { type: 'hard', email: 'gone@client.example', campaign: { id: campaign?.id } },
    ])
    expect((await client.bounces()).map(({ type }) => type).sort()).toEqual(['hard', 'soft'])
    expect((await client.findSubscriber('gone@client.example'))?.status).toBe('blocklisted')
  })
})
