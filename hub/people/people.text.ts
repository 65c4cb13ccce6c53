import { texts } from '../i18n/words.ts'

/** What is said before and after a person is erased. */
export const peopleText = texts(
  {
    confirm: 'Type the address of the person to erase.',
    busy: {
      member: 'This person is a member of the hub. Remove them in Settings > Members first.',
      mail: 'A mail to this person is being sent. Wait until it has left.',
      import: 'An import is running and may hold this person. Wait until it is done.',
      mission: 'A mission is running and may write this person again. Wait, or cancel it.',
    },
    stays: {
      hash: 'A salted hash of the address stays on the suppression list with the day of the erasure: nobody writes to the person again, and a restored backup is cleaned by it.',
      counts: 'Numbers of mails that were sent stay, without the person.',
      archives: (backups: number, archives: number) =>
        `${backups} backups and ${archives} archives of deleted projects on this machine may hold the person until they are deleted. Everybody who was erased is erased again when a backup is restored.`,
      unsearched: (count: number) =>
        `${count} files in the project folders are not text and were not searched. Look at them yourself.`,
      elsewhere:
        'Mail in your own mailbox, exported files and backups on other machines are outside of the hub.',
      texts: (count: number) =>
        `${count} places in texts and files still name the person, because replacing them was not confirmed.`,
    },
  },
  {
    confirm: 'Silinecek kişinin adresini yazın.',
    busy: {
      member: 'Bu kişi hub’ın bir üyesi. Önce Ayarlar > Üyeler bölümünde çıkarın.',
      mail: 'Bu kişiye şu anda e-posta gönderiliyor. Gönderim bitene kadar bekleyin.',
      import: 'Süren bir içe aktarma bu kişiyi içerebilir. Bitmesini bekleyin.',
      mission: 'Süren bir görev bu kişiyi yeniden yazabilir. Bekleyin ya da görevi iptal edin.',
    },
    stays: {
      hash: 'Adresin tuzlanmış özeti, silme günüyle birlikte engelleme listesinde kalır: kişiye bir daha yazılmaz ve geri yüklenen bir yedek bununla temizlenir.',
      counts: 'Gönderilmiş e-postaların sayıları kişi olmadan kalır.',
      archives: (backups, archives) =>
        `Bu makinedeki ${backups} yedek ve silinmiş projelere ait ${archives} arşiv, silinene kadar kişiyi içerebilir. Bir yedek geri yüklendiğinde silinmiş herkes yeniden silinir.`,
      unsearched: (count) =>
        `Proje klasörlerindeki ${count} dosya metin değil ve aranmadı. Bunlara kendiniz bakın.`,
      elsewhere:
        'Kendi posta kutunuzdaki e-postalar, dışa aktarılan dosyalar ve başka makinelerdeki yedekler hub’ın dışındadır.',
      texts: (count) =>
        `Değiştirme onaylanmadığı için metin ve dosyalarda ${count} yer kişiyi hâlâ anıyor.`,
    },
  },
)
