import { day, texts } from '../i18n/words.ts'

/** Why a licence does not count, or does not allow more. */
export const licenseText = texts(
  {
    unknown_key: 'It was signed with a key this release does not know. Ask for a new one.',
    altered: 'Its signature is wrong: it was altered or forged. Paste it as you got it.',
    no_key: 'It is no licence key. Paste it whole, as you got it.',
    grace: (at: string) =>
      `It expired on ${day('en', at)}; everything works until 14 days after. Renew it.`,
    expired: (at: string) =>
      `It expired on ${day('en', at)}. The limits of Free hold; nothing was deleted.`,
    no_room: (tier: string, most: number) =>
      `The ${tier} tier allows ${most} ${most === 1 ? 'project' : 'projects'}. Enter a larger licence in Settings > Licence, or delete a project.`,
    read_only: (project: string, tier: string, most: number) =>
      `"${project}" is read-only: the ${tier} tier allows ${most} ${most === 1 ? 'project' : 'projects'}. Renew the licence in Settings > Licence; nothing is lost.`,
    no_branding: 'Branding needs an Enterprise licence. Enter one in Settings > Licence.',
    free: 'None: the Free tier, one project.',
    valid: (tier: string, at: string) => `${tier}, until ${day('en', at)}.`,
  },
  {
    unknown_key: 'Bu sürümün tanımadığı bir anahtarla imzalanmış. Yenisini isteyin.',
    altered:
      'İmzası yanlış: değiştirilmiş ya da sahte. Lisans anahtarını size geldiği gibi yapıştırın.',
    no_key: 'Bu bir lisans anahtarı değil. Size geldiği gibi, bütün olarak yapıştırın.',
    grace: (at) =>
      `Süresi ${day('tr', at)} tarihinde doldu; sonraki 14 gün her şey çalışır. Yenileyin.`,
    expired: (at) =>
      `Süresi ${day('tr', at)} tarihinde doldu. Free sınırları geçerli; hiçbir şey silinmedi.`,
    no_room: (tier, most) =>
      `${tier} lisansı en çok ${most} projeye izin verir. Ayarlar > Lisans altında daha büyük bir lisans girin ya da bir projeyi silin.`,
    read_only: (project, tier, most) =>
      `“${project}” salt okunur: ${tier} lisansı en çok ${most} projeye izin verir. Ayarlar > Lisans altında lisansı yenileyin; hiçbir şey kaybolmaz.`,
    no_branding: 'Marka için Enterprise lisansı gerekir. Ayarlar > Lisans altında girin.',
    free: 'Yok: Free, bir proje.',
    valid: (tier, at) => `${tier}, geçerlilik sonu ${day('tr', at)}.`,
  },
)
