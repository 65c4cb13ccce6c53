import { texts } from '../../../shared/words/texts.ts'

/** What an act of the audit was done to, and what was done: `zone.created` is “Zone created”. */
export const actsText = texts(
  {
    things: {
      account: 'Account',
      alert: 'Alert',
      channel: 'Channel',
      feed_link: 'Feed link',
      key: 'Key',
      member: 'Member',
      organisation: 'Organisation',
      queue: 'Failed messages',
      request: 'Request',
      session: 'Session',
      sign_in_link: 'Sign-in link',
      zone: 'Zone',
    } as Record<string, string>,
    verbs: {
      acknowledged: 'acknowledged',
      channels_lost: 'lost channels',
      confirmation_sent: 'confirmation sent',
      created: 'created',
      deleted: 'deleted',
      discarded: 'discarded by an operator',
      drilled: 'test alert sent',
      ended: 'ended',
      invited: 'invited',
      noted: 'note changed',
      plan_changed: 'plan changed',
      recovered: 'failed messages sent again',
      redelivered: 'sent again',
      refused: 'refused',
      reopened: 'reopened',
      resolved: 'resolved',
      restored: 'restored',
      reused: 'ended: its token was used twice',
      revoked: 'revoked',
      rotated: 'addresses replaced',
      secret_rotated: 'signing secret replaced',
      started: 'started',
      tested: 'tested',
      updated: 'changed',
    } as Record<string, string>,
  },
  {
    things: {
      account: 'Hesap',
      alert: 'Uyarı',
      channel: 'Kanal',
      feed_link: 'Akış bağlantısı',
      key: 'Anahtar',
      member: 'Üye',
      organisation: 'Kuruluş',
      queue: 'İletilemeyen mesajlar',
      request: 'İstek',
      session: 'Oturum',
      sign_in_link: 'Oturum bağlantısı',
      zone: 'Bölge',
    },
    verbs: {
      acknowledged: 'görüldü',
      channels_lost: 'kanal kaybetti',
      confirmation_sent: 'onay iletisi gönderildi',
      created: 'oluşturuldu',
      deleted: 'silindi',
      discarded: 'bir işletmen tarafından atıldı',
      drilled: 'deneme uyarısı gönderildi',
      ended: 'kapatıldı',
      invited: 'davet edildi',
      noted: 'notu değişti',
      plan_changed: 'planı değişti',
      recovered: 'iletilemeyen mesajları yeniden gönderildi',
      redelivered: 'yeniden gönderildi',
      refused: 'reddedildi',
      reopened: 'yeniden açıldı',
      resolved: 'kapatıldı',
      restored: 'geri getirildi',
      reused: 'kapatıldı: belirteci iki kez kullanıldı',
      revoked: 'iptal edildi',
      rotated: 'adresleri yenilendi',
      secret_rotated: 'imza anahtarı yenilendi',
      started: 'açıldı',
      tested: 'denendi',
      updated: 'değiştirildi',
    },
  },
)

/** An act in words: `Zone` and `created` for `zone.created`. Undefined for what is not known here. */
export function wordsOfAct(
  action: string,
  { things, verbs }: (typeof actsText)['en'],
): [thing: string, verb: string] | undefined {
  const [of = '', done = ''] = action.split('.')
  const [thing, verb] = [things[of], verbs[done]]
  return thing && verb ? [thing, verb] : undefined
}
