import type { Tasks } from './tasks.ts'

export const THIRD: Tasks = {
  en: {
    research: [
      'bakeries in lyon with more than one shop, i need names',
      'whats known about the new owner of delta foods',
      'pull the contacts out of the attached attendee list',
    ],
    web_research: [
      'see if kargoline.com has anything on night deliveries',
      'grab the team names from their about us page',
    ],
    marketing: [
      'let everyone on the list know we moved offices',
      'reply to claire, say yes to the tuesday slot',
      'come up w/ a catchy subject for the fair invitation',
    ],
    sales: [
      'they want 10% off, how far can i go and what do i offer instead',
      'script for cold calling hotels in antalya',
      'draft an offer: 3 pumps for usta makina, delivery incl',
    ],
    engineer: [
      'this query in code/report.sql is wrong, sums are doubled',
      'convert an xlsx price list to json automatically',
    ],
    engineer_system: [
      'hub: add a keyboard shortcut for approve',
      'make the hub send me a daily digest, needs a code change',
    ],
    docs: [
      'checklist for packing export orders',
      'sum up the attached pdf in 5 bullets',
      'rewrite our returns policy so a child gets it',
    ],
    finance: [
      'invoice dubois transport for march, 14 trips at 230',
      'are we over budget on marketing this month, spent 3100 of 2800',
    ],
    legal: [
      'supplier is 6 weeks late, can we cancel and get money back',
      'what must be in the imprint of a german website',
    ],
    data: [
      'list leads without phone number',
      'average time from first mail to reply',
      'compare answers by source this year',
    ],
    pm: [
      'which of the agents fails most and why',
      'our approvals take ages, suggest a better way of working',
    ],
    system: [
      'the page says database unreachable, whats wrong',
      'free some disk space please',
      'imap login fails since yesterday',
    ],
    ceo: [
      'draft our goals for the second half of the year',
      'should we hire a second sales rep or spend on ads',
    ],
  },
  tr: {
    research: [
      'konyada tarım makinesi satan bayileri bulur musun',
      'usta makina ile ilgili ne bulursan yaz bana, ortakları kim',
      'şu katılımcı listesinden firmaları çek',
    ],
    web_research: [
      'rakibin sitesinde fiyat var mı bak',
      'https://dubois.example adresindeki referansları çıkar',
    ],
    marketing: [
      'taşındığımızı herkese haber verelim mailden',
      'claire e olumlu cevap yaz salı uygun de',
      'indirim duyurusu için kısa ve samimi bir metin lazım mail olarak',
    ],
    sales: [
      'müşteri %10 indirim istiyor nasıl karşılık vereyim',
      'otelleri ararken kullanacağım bir konuşma metni yaz',
      'usta makinaya 3 pompa için teklif çıkar nakliye dahil',
    ],
    engineer: [
      'code/rapor.sql yanlış topluyor düzelt',
      'fiyat listesini json a çeviren bir şey yazar mısın, excel den',
      'sitedeki iletişim formuna doğrulama ekle',
    ],
    engineer_system: [
      'huba kısayol tuşu ekle onay için',
      'hub her gün bana özet atsın, kodunu değiştir',
    ],
    docs: [
      'ihracat siparişi paketleme için kontrol listesi',
      'ekteki yazıyı beş maddede özetle',
      'iade koşullarımızı daha anlaşılır yaz',
    ],
    finance: [
      'dubois transporta mart ayı faturası, 14 sefer 230 euro',
      'bu ay pazarlamaya 3100 harcadık bütçe 2800 dü ne kadar aştık',
    ],
    legal: [
      'tedarikçi 6 hafta geç kaldı sözleşmeden dönebilir miyiz',
      'mesafeli satış sözleşmesi hazırla',
      'bu maddeyi kabul edersek başımıza ne gelir',
    ],
    data: [
      'telefonu olmayan adayları göster',
      'ilk mailden cevaba kadar ortalama kaç gün geçiyo',
      'bu yıl cevapları kaynağa göre kıyasla',
    ],
    pm: [
      'hangi ajan en çok hata yapıyor, neden',
      'onaylar çok uzun sürüyor daha iyi bir yöntem öner',
    ],
    system: [
      'sayfada veritabanına ulaşılamıyor yazıyo ne oldu',
      'diskte yer aç',
      'dünden beri imap girişi olmuyor',
    ],
    ceo: [
      'yılın ikinci yarısı için hedeflerimizi yaz',
      'ikinci bir satışçı mı alalım reklama mı yatıralım',
    ],
  },
}

/** Nobody looked at what this list showed; whoever does to mend it writes a new one. */
