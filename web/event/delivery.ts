/** How the state of a message looks. */
export const DELIVERY_TONES = {
  queued: 'plain',
  held: 'plain',
  sending: 'plain',
  succeeded: 'good',
  failed: 'bad',
  expired: 'warn',
  cancelled: 'plain',
} as const
