import { type AisMessage, decodeAis } from '../../../../functions/feeds/formats/ais-message.ts'
import { type Field, payloadOf } from '../../../support/feeds/ais.ts'

/** The message of some fields or of a payload; what cannot be decoded fails the test. */
export function decoded(fields: Field[] | { payload: string; fill: number }): AisMessage {
  const { payload, fill } = Array.isArray(fields) ? payloadOf(fields) : fields
  const message = decodeAis(payload, fill)
  if ('problem' in message) throw new Error(message.problem)
  return message
}
