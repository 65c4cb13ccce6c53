import type { Words } from '../../i18n/words.ts'

/** A question of a checklist, and the rule that requires it. */
export type Check = { id: string; rule: string; ask: Words }

/** KVKK (Law 6698) and the rules on commercial messages (Law 6563, İYS) for a small sales team. */
export const KVKK: Check[] = [
  {
    id: 'basis',
    rule: 'KVKK m. 5–6',
    ask: {
      en: 'Is there a lawful ground (consent, contract, legitimate interest …) for each purpose, written down?',
      tr: 'Her amaç için hukuki sebep (açık rıza, sözleşme, meşru menfaat …) yazılı olarak belirlendi mi?',
    },
  },
  {
    id: 'notice',
    rule: 'KVKK m. 10',
    ask: {
      en: 'Do people get the privacy notice when their data are obtained, at the latest at first contact?',
      tr: 'Kişilere veri elde edilirken, en geç ilk temasta aydınlatma yapılıyor mu?',
    },
  },
  {
    id: 'minimal',
    rule: 'KVKK m. 4',
    ask: {
      en: 'Are only the data kept that the purpose needs?',
      tr: 'Yalnızca amacın gerektirdiği veriler mi tutuluyor?',
    },
  },
  {
    id: 'source',
    rule: 'KVKK m. 4, 10',
    ask: {
      en: 'Is it known for every lead where the data come from?',
      tr: 'Her müşteri adayının verisinin kaynağı biliniyor mu?',
    },
  },
  {
    id: 'messages',
    rule: '6563 s. K. m. 6, İYS',
    ask: {
      en: 'Are commercial messages sent with prior consent (or to merchants who have not refused), and is İYS checked?',
      tr: 'Ticari iletiler önceden onayla (veya reddetmemiş tacirlere) mı gönderiliyor, İYS kontrol ediliyor mu?',
    },
  },
  {
    id: 'refusal',
    rule: '6563 s. K. m. 8',
    ask: {
      en: 'Can everybody refuse further messages easily and free of charge, and is that honoured within three business days?',
      tr: 'Herkes iletileri kolayca ve ücretsiz reddedebiliyor ve bu üç iş günü içinde yerine getiriliyor mu?',
    },
  },
  {
    id: 'rights',
    rule: 'KVKK m. 11, 13',
    ask: {
      en: 'Is somebody in charge of answering requests of data subjects within 30 days?',
      tr: 'İlgili kişi başvurularını 30 gün içinde yanıtlayacak bir sorumlu var mı?',
    },
  },
  {
    id: 'retention',
    rule: 'KVKK m. 7',
    ask: {
      en: 'Is there a retention period after which data are deleted or anonymised?',
      tr: 'Sonunda verilerin silindiği veya anonim hâle getirildiği bir saklama süresi var mı?',
    },
  },
  {
    id: 'abroad',
    rule: 'KVKK m. 9',
    ask: {
      en: 'Are data sent abroad only with a ground for the transfer (adequacy, safeguards, exception)?',
      tr: 'Yurt dışına aktarım yalnızca geçerli bir dayanakla mı (yeterlilik, güvence, istisna) yapılıyor?',
    },
  },
  {
    id: 'processors',
    rule: 'KVKK m. 12',
    ask: {
      en: 'Is there a contract with each processor (mail provider, host)?',
      tr: 'Her veri işleyenle (posta sağlayıcısı, barındırma) sözleşme var mı?',
    },
  },
  {
    id: 'security',
    rule: 'KVKK m. 12',
    ask: {
      en: 'Are access, backups and devices secured, and is a breach reported to the Board within 72 hours?',
      tr: 'Erişim, yedek ve cihazlar güvende mi; ihlal 72 saat içinde Kurula bildirilir mi?',
    },
  },
  {
    id: 'verbis',
    rule: 'KVKK m. 16',
    ask: {
      en: 'Has it been tested whether registration with VERBİS is due?',
      tr: 'VERBİS kayıt yükümlülüğü değerlendirildi mi?',
    },
  },
]

/** GDPR and ePrivacy for the same team. */
export const GDPR: Check[] = [
  {
    id: 'basis',
    rule: 'GDPR Art. 6',
    ask: {
      en: 'Is there a lawful basis for each purpose, and a written balancing test where it is legitimate interest?',
      tr: 'Her amaç için hukuki dayanak ve meşru menfaatte yazılı denge testi var mı?',
    },
  },
  {
    id: 'notice',
    rule: 'GDPR Art. 13–14',
    ask: {
      en: 'Do people get the privacy information, at the latest within a month or at first contact when data come from elsewhere?',
      tr: 'Veri başka yerden geldiğinde en geç bir ay içinde veya ilk temasta bilgilendirme yapılıyor mu?',
    },
  },
  {
    id: 'marketing',
    rule: 'ePrivacy Art. 13',
    ask: {
      en: 'Is there consent for e-mail marketing, or an exception of the country of the recipient?',
      tr: 'E-posta pazarlaması için onay ya da alıcının ülkesinde geçerli bir istisna var mı?',
    },
  },
  {
    id: 'object',
    rule: 'GDPR Art. 21',
    ask: {
      en: 'Does every message offer a way to object, and does an objection end direct marketing at once?',
      tr: 'Her iletide itiraz yolu var mı ve itiraz doğrudan pazarlamayı hemen bitiriyor mu?',
    },
  },
  {
    id: 'minimal',
    rule: 'GDPR Art. 5(1)(c)',
    ask: {
      en: 'Are only the data kept that the purpose needs?',
      tr: 'Yalnızca amacın gerektirdiği veriler mi tutuluyor?',
    },
  },
  {
    id: 'retention',
    rule: 'GDPR Art. 5(1)(e)',
    ask: {
      en: 'Is there a retention period, and is it carried out?',
      tr: 'Saklama süresi var mı ve uygulanıyor mu?',
    },
  },
  {
    id: 'rights',
    rule: 'GDPR Art. 12, 15–20',
    ask: {
      en: 'Can access, correction and deletion be answered within a month?',
      tr: 'Erişim, düzeltme ve silme talepleri bir ay içinde yanıtlanabiliyor mu?',
    },
  },
  {
    id: 'processors',
    rule: 'GDPR Art. 28',
    ask: {
      en: 'Is there a data processing agreement with each processor?',
      tr: 'Her veri işleyenle veri işleme sözleşmesi var mı?',
    },
  },
  {
    id: 'transfers',
    rule: 'GDPR Art. 44–49',
    ask: {
      en: 'Do transfers out of the EEA rest on an adequacy decision or standard clauses?',
      tr: 'AEA dışına aktarımlar yeterlilik kararına veya standart maddelere dayanıyor mu?',
    },
  },
  {
    id: 'records',
    rule: 'GDPR Art. 30',
    ask: {
      en: 'Is there a record of processing activities?',
      tr: 'İşleme faaliyetleri kaydı var mı?',
    },
  },
  {
    id: 'security',
    rule: 'GDPR Art. 32–34',
    ask: {
      en: 'Are access, backups and devices secured, and is a breach notified within 72 hours?',
      tr: 'Erişim, yedek ve cihazlar güvende mi; ihlal 72 saat içinde bildirilir mi?',
    },
  },
  {
    id: 'representative',
    rule: 'GDPR Art. 27',
    ask: {
      en: 'If the company is outside the EU and targets people there: is a representative named?',
      tr: 'Şirket AB dışındaysa ve oradaki kişilere yöneliyorsa temsilci atandı mı?',
    },
  },
]
