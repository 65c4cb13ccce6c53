import { z } from 'zod'
import { VERSION } from '../../shared/version.ts'
import type { ChannelKind, Classification, Issue, Message, Style } from './channel.ts'
import { configIssues, targetIssue } from './check.ts'
import { fieldsOf, heard, isTemporary, noAnswer, quoted, retryAfter } from './classify.ts'
import { type Card, cardOf, type Link, signOf } from './message/card.ts'
import { escapeMarkup, shortenBy, units } from './message/text.ts'
import type { SendResult } from './transport/send.ts'

const HOST = 'api.telegram.org'
const CHAT_ID = /^-?\d{1,20}$/
const CHANNEL_NAME = /^@[A-Za-z]\w{3,31}$/
const TOKEN = /^\d{6,16}:[\w-]{30,64}$/
const WHERE =
  'Add your bot to the chat, write to it there, and read message.chat.id at https://api.telegram.org/bot<token>/getUpdates: a number such as -1001234567890, or the @name of a public channel.'

/** 4,096 characters after the markup is taken out, less 5 %. */
const MAX_TEXT = 3_890
const MAX_TITLE = 300
const MAX_LINE = 900

const TelegramConfig = z.strictObject({
  bot_token: z
    .string('Send the token of your bot, which @BotFather gave you: 123456789:AA….')
    .regex(TOKEN, 'Must be the token of a bot as @BotFather shows it: 123456789:AA….'),
  thread_id: z
    .int('Must be the number of a topic: the middle part of a link to a message in it.')
    .positive()
    .optional(),
})

/** A chat of a Telegram bot. An update edits the first message; one that got worse answers it. */
export const telegram: ChannelKind = {
  kind: 'telegram',
  schedule: 'message',
  // Of a group; a single person may get one a second.
  pace: { messages: 20, per_seconds: 60 },
  check: ({ target, config }) => [...checkTarget(target), ...configIssues(TelegramConfig, config)],
  host: () => HOST,
  mask: (target) => (target.length < 8 ? '…' : `…${target.slice(-3)}`),
  fits: (notification, style) => visibleLength(htmlOf({ notification, ...style })) <= MAX_TEXT,
  async render(message) {
    const { bot_token, thread_id } = TelegramConfig.parse(message.config ?? {})
    const [chat_id, first] = refOf(message.remote_ref)
    const isEdit = first !== null && message.notification.type !== 'alert.escalated'
    const common = {
      text: htmlOf(message),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }
    const fields = isEdit
      ? { chat_id, message_id: first, ...common }
      : {
          chat_id: message.target,
          ...(thread_id ? { message_thread_id: thread_id } : {}),
          ...(first === null
            ? {}
            : { reply_parameters: { message_id: first, allow_sending_without_reply: true } }),
          disable_notification: ['over', 'well'].includes(cardOf(message).tone),
          ...common,
        }
    return {
      url: `https://${HOST}/bot${bot_token}/${isEdit ? 'editMessageText' : 'sendMessage'}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': `Watchpost/${VERSION}` },
      body: JSON.stringify(fields),
    }
  },
  classify,
}

function checkTarget(target: string): Issue[] {
  if (CHAT_ID.test(target) || CHANNEL_NAME.test(target)) return []
  if (TOKEN.test(target)) {
    const message = `This is the token of a bot; it goes into config.bot_token. The target is the chat. ${WHERE}`
    return [targetIssue('token', message)]
  }
  if (/t(elegram)?\.me\//.test(target)) {
    const message = `This is a link. Of a public channel send its @name; of a group or person the number of the chat. ${WHERE}`
    return [targetIssue('link', message)]
  }
  return [targetIssue('malformed', `Must be the id of a chat. ${WHERE}`)]
}

/** The chat and number of the first message. */
function refOf(ref: string | null): [chat_id: string, message_id: number] | [null, null] {
  const [, chat, message] = ref?.match(/^(-?\d+)\/(\d+)$/) ?? []
  return chat && message ? [chat, Number(message)] : [null, null]
}

type Said = Style & Pick<Message, 'notification'> & Partial<Pick<Message, 'acknowledge_url'>>

function htmlOf(message: Said): string {
  const card = cardOf(message)
  const sentence = (line: string) => escapeMarkup(shorten(line, MAX_LINE, message))
  return [
    titleOf(card, message),
    sentence(card.heading),
    ...(card.text ? ['', sentence(card.text)] : []),
    ...(card.facts.length > 0 ? [''] : []),
    ...card.facts.map(({ name, value }) => `${name}: ${sentence(value)}`),
    ...card.items.flatMap((item) => [
      '',
      titleOf(item, message),
      sentence(item.line),
      sentence(item.reason),
      linksLine(item.links),
    ]),
    ...(card.links.length > 0 ? ['', linksLine(card.links)] : []),
    '',
    `<i>${sentence(card.footer)}</i>`,
  ]
    .filter((line, index, lines) => line !== '' || (index > 0 && lines[index - 1] !== ''))
    .join('\n')
}

const titleOf = (card: Pick<Card, 'tone' | 'title'>, style: Style) =>
  `${signOf(card)} <b>${escapeMarkup(shorten(card.title, MAX_TITLE, style))}</b>`

const linksLine = (links: readonly Link[]) =>
  links.map(({ label, url }) => `<a href="${escapeMarkup(url)}">${label}</a>`).join(' · ')

/** Cuts before the markup is made, so never within a tag or an entity. */
const shorten = shortenBy(units)

/** What is left when Telegram has taken out tags and read the entities. */
const visibleLength = (html: string) =>
  html.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt);/g, '.').length

const EDIT_LOST = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i

function classify(result: SendResult, now: Date): Classification {
  if (!result.ok) return noAnswer(result)
  const base = heard(result)
  const { ok, error_code, description, parameters, result: sent } = fieldsOf(result.body)
  if (result.status === 200 && ok === true) {
    const { message_id, chat } = fieldsOf(JSON.stringify(sent ?? null))
    const { id } = fieldsOf(JSON.stringify(chat ?? null))
    const ref =
      typeof message_id === 'number' && id !== undefined
        ? { remote_ref: `${id}/${message_id}` }
        : {}
    return { ...base, ...ref, outcome: 'ok' }
  }
  const status = typeof error_code === 'number' ? error_code : result.status
  const said = quoted(description)
  const error = `Telegram answered ${status}${said ? `: ${said}` : ''}.`
  const { migrate_to_chat_id, retry_after } = fieldsOf(JSON.stringify(parameters ?? null))
  if (migrate_to_chat_id !== undefined) {
    return {
      ...base,
      outcome: 'retry',
      counted: false,
      new_target: String(migrate_to_chat_id),
      error,
    }
  }
  if (/message is not modified/i.test(said)) return { ...base, outcome: 'ok' }
  if (EDIT_LOST.test(said)) return { ...base, outcome: 'retry', is_gone: true, error }
  if (status === 429) {
    const hint =
      typeof retry_after === 'number'
        ? { retry_after_seconds: Math.ceil(retry_after) }
        : retryAfter(result, now)
    return { ...base, ...hint, outcome: 'retry', throttled: true, counted: false, error }
  }
  if (typeof ok === 'boolean' && (status === 401 || status === 404)) {
    const way =
      'The bot’s token is not valid any more: ask @BotFather for it and set config.bot_token.'
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  if (typeof ok === 'boolean' && status === 403) {
    const way = 'Let the bot into the chat again, then switch the channel on.'
    return { ...base, outcome: 'disable_channel', error: `${error} ${way}` }
  }
  // A 200 that is not Telegram's may come from something between us and Telegram.
  if (status === 200 || isTemporary(status)) {
    return { ...base, ...retryAfter(result, now), outcome: 'retry', error }
  }
  const isUnknown = /chat not found/i.test(said)
  const way = isUnknown ? ` Is it the right chat, and is the bot in it? ${WHERE}` : ''
  return { ...base, outcome: 'fail_permanent', error: `${error}${way}` }
}
