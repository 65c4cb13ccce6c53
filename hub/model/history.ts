import type { ChatHistoryItem } from 'node-llama-cpp'
import type { Message } from './protocol.ts'

/** The chat in the form of node-llama-cpp; the empty answer at its end is the one to generate. */
export function historyOf(messages: Message[]): ChatHistoryItem[] {
  const history = messages.map(({ role, content }): ChatHistoryItem => {
    if (role === 'system') return { type: 'system', text: content }
    if (role === 'user') return { type: 'user', text: content }
    return { type: 'model', response: [content] }
  })
  return [...history, { type: 'model', response: [] }]
}
