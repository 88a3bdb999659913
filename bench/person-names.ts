// Composes the names of invented people, and the different spellings of them in the registers.
import type { Random } from './random.ts';

export interface PersonName {
  readonly first: string;
  readonly last: string;
}

export interface Spelling extends PersonName {
  readonly full: string;
}

const MEN: readonly string[] = (
  'Anastase,Aimé,Alphonse,André,Athanase,Augustin,Bonaventure,Callixte,Célestin,Clément,Damascène,' +
  'Déogratias,Désiré,Dieudonné,Donat,Elie,Emmanuel,Ephrem,Eugène,Evariste,Fabrice,Faustin,Félicien,' +
  'Fidèle,François,Gaspard,Gédéon,Gérard,Gratien,Hyacinthe,Ildephonse,Innocent,Isidore,Janvier,' +
  'Jean Bosco,Jean Claude,Jean de Dieu,Jean Népomuscène,Jean Pierre,Joël,Juvénal,Léonard,Marcel,' +
  'Modeste,Narcisse,Nicodème,Obed,Onésphore,Pascal,Prosper,Rémy,Sylvestre,Tharcisse,Théogène,' +
  'Théophile,Valens,Vénuste,Vianney,Zacharie'
).split(',');

const WOMEN: readonly string[] = (
  'Adèle,Agnès,Alice,Alphonsine,Angélique,Annonciata,Assumpta,Béata,Béatrice,Bernadette,Cécile,' +
  'Chantal,Christine,Clémentine,Colette,Consolée,Dative,Delphine,Donatille,Drocella,Emérance,' +
  'Espérance,Eugénie,Félicité,Florence,Francine,Générose,Godelive,Hélène,Immaculée,Jacqueline,' +
  'Joséphine,Josiane,Julienne,Laurence,Léoncie,Liberata,Marie Claire,Marie Goretti,Marie Josée,' +
  'Marthe,Médiatrice,Monique,Odette,Pascasie,Pélagie,Perpétue,Philomène,Primitive,Prisca,Rosalie,' +
  'Scholastique,Séraphine,Solange,Spéciose,Thérèse,Valérie,Vénantie,Vestine,Xavérine'
).split(',');

// A head and a tail are drawn independently: most of these surnames exist only on paper.
const HEADS: readonly string[] =
  'Uwi,Uwa,Niyo,Nsengi,Habi,Tuyi,Ndahi,Ntaki,Rwisi,Gasi,Biza,Mugi,Shyira,Kayi,Murwa,Rugwi,Hitayi,Sebu'.split(
    ',',
  );
const WOMEN_HEADS: readonly string[] = 'Muka,Nyira,Uwi,Uwa,Mukandi,Nyiransi,Mukari,Niyo,Umwi,Tuyi'.split(',');
const TAILS: readonly string[] = (
  'hirwe,zimba,mpundu,shema,guriye,tozera,bagwiza,kundwa,randa,hozayo,tuzeru,nezara,gambiro,vubira,' +
  'sanzwa,ryohera,cyuriza,beruka,ganzwa,zubira,mahundo,kirezi,batega,ruteri,sabwiza,tararo'
).split(',');

export function composeName(random: Random, male: boolean): PersonName {
  return {
    first: random.pick(male ? MEN : WOMEN),
    last: random.pick(male ? HEADS : WOMEN_HEADS) + random.pick(TAILS),
  };
}

function withoutAccents(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

function dropLetter(text: string, random: Random): string {
  const position = random.int(3, text.length - 2);
  return text.slice(0, position) + text.slice(position + 1);
}

function initials(first: string): string {
  return first.replace(/(\S)\S*/g, '$1.').replaceAll(' ', '');
}

function spell(name: PersonName, surnameFirst: boolean): Spelling {
  return { ...name, full: surnameFirst ? `${name.last} ${name.first}` : `${name.first} ${name.last}` };
}

/** @returns `count` spellings of one name (five at most), all different even in lower case */
export function variedSpellings(name: PersonName, count: number, random: Random): Spelling[] {
  const { first, last } = name;
  const surnameFirst = random.chance(0.5);
  const variants = [
    spell({ first: withoutAccents(first), last }, surnameFirst),
    spell({ first, last: dropLetter(last, random) }, surnameFirst),
    spell({ first: initials(first), last }, surnameFirst),
    spell({ first: withoutAccents(first), last: dropLetter(last, random) }, !surnameFirst),
    spell(name, !surnameFirst),
  ];
  const chosen = [spell(name, surnameFirst)];
  for (const variant of random.shuffled(variants)) {
    const known = chosen.some((one) => one.full.toLowerCase() === variant.full.toLowerCase());
    if (!known && chosen.length < count) chosen.push(variant);
  }
  return chosen;
}
