import { day, texts } from '../i18n/words.ts'

/** Why a license is refused or expired, and what it does not allow. */
export const licenseText = texts(
  {
    unknown_key:
      'The license was signed with a key that this release does not know. Ask for a new license.',
    altered:
      'The license’s signature is wrong: it was altered or forged. Paste the key exactly as you received it.',
    no_key: 'This is not a license key. Paste the whole key, exactly as you received it.',
    grace: (at: string) =>
      `The license expired on ${day('en', at)}. Everything keeps working for 14 days after that. Renew it.`,
    expired: (at: string) =>
      `The license expired on ${day('en', at)}. The limits of the Free tier apply; nothing was deleted.`,
    no_room: (tier: string, most: number) =>
      `The ${tier} tier allows ${most} ${most === 1 ? 'project' : 'projects'}. Enter a larger license in Settings > License, or delete a project.`,
    read_only: (project: string, tier: string, most: number) =>
      `"${project}" is read-only: the ${tier} tier allows ${most} ${most === 1 ? 'project' : 'projects'}. Renew the license in Settings > License. Nothing is lost.`,
    no_branding: 'Branding requires an Enterprise license. Enter one in Settings > License.',
    free: 'None: Free tier, one project.',
    valid: (tier: string, at: string) => `${tier}, until ${day('en', at)}.`,
  },
  {
    unknown_key: 'Lisans, bu sürümün tanımadığı bir anahtarla imzalanmış. Yeni bir lisans isteyin.',
    altered:
      'Lisansın imzası yanlış: değiştirilmiş ya da sahte. Anahtarı size geldiği gibi yapıştırın.',
    no_key: 'Bu bir lisans anahtarı değil. Anahtarın tamamını, size geldiği gibi yapıştırın.',
    grace: (at) =>
      `Lisansın süresi ${day('tr', at)} tarihinde doldu. Sonraki 14 gün her şey çalışmaya devam eder. Yenileyin.`,
    expired: (at) =>
      `Lisansın süresi ${day('tr', at)} tarihinde doldu. Free sınırları geçerli; hiçbir şey silinmedi.`,
    no_room: (tier, most) =>
      `${tier} lisansı en çok ${most} projeye izin verir. Ayarlar > Lisans altında daha büyük bir lisans girin ya da bir projeyi silin.`,
    read_only: (project, tier, most) =>
      `“${project}” salt okunur: ${tier} lisansı en çok ${most} projeye izin verir. Ayarlar > Lisans altında lisansı yenileyin; hiçbir şey kaybolmaz.`,
    no_branding: 'Marka için Enterprise lisansı gerekir. Ayarlar > Lisans altında girin.',
    free: 'Yok: Free, tek proje.',
    valid: (tier, at) => `${tier}, geçerlilik sonu ${day('tr', at)}.`,
  },
)
