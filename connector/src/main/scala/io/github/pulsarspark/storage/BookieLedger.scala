package io.github.pulsarspark.storage

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.regex.Pattern

import scala.util.Try

/** Where the entries of a ledger are on bookies; all that a BookKeeper client has to know to read it.
  *
  * @param digestType
  *   BookKeeper's name of it, such as `CRC32C`
  * @param ensembles
  *   from the given entry on, the bookies in their order; the first begins at entry 0
  * @param managedLedger
  *   the managed ledger that the ledger says it belongs to
  */
private[pulsarspark] final case class BookieLedger(
    id: Long,
    formatVersion: Int,
    ensembleSize: Int,
    writeQuorum: Int,
    ackQuorum: Int,
    digestType: String,
    ensembles: Seq[(Long, Seq[String])],
    managedLedger: Option[String]
) {
  def bookies: Seq[String] = ensembles.flatMap(_._2).distinct

  /** The bookies among which an entry is, and the first of the entries after it for which others were chosen. */
  def ensembleOf(entry: Long): (Seq[String], Option[Long]) = {
    val (before, after) = ensembles.span(_._1 <= entry)
    (before.last._2, after.headOption.map(_._1))
  }
}

/** Reads the text that the admin API gives for a ledger's metadata (`LedgerMetadata.toSafeString` of BookKeeper). It is no contract, so whatever is not exactly
  * as expected is refused. Regular expressions would take half of the time in which a read of 100,000 ledgers is planned.
  */
private[storage] object BookieLedger {

  /** The host in a bookie's id, which is `host:port` unless an operator chose another. */
  def hostOf(bookie: String): String = bookie.lastIndexOf(':') match {
    case -1   => bookie
    case port => bookie.take(port)
  }

  private val Begin     = "LedgerMetadata{"
  private val Ensembles = ", ensembles={"
  private val Custom    = ", customMetadata={"
  private val Owner     = "pulsar/managed-ledger=base64:"
  private val Comma     = Pattern.compile(", ")
  private val Between   = Pattern.compile("\\], ")

  /** Left with a reason when the text is not understood. */
  def parse(id: Long, text: String): Either[String, BookieLedger] = parts(text) match {
    case Some((head, ensembles, custom)) =>
      val fields = Comma.split(head).map(_.split("=", 2)).collect { case Array(key, value) => key -> value }.toMap
      for {
        parsed <- parseEnsembles(ensembles)
        ledger <- Try(BookieLedger(
          id,
          fields("formatVersion").toInt,
          fields("ensembleSize").toInt,
          fields("writeQuorumSize").toInt,
          fields("ackQuorumSize").toInt,
          fields("digestType").intern,
          parsed,
          custom.flatMap(managedLedger)
        )).toEither.left.map(_ => s"its metadata is not understood: $text")
        _ <- Either.cond(isSound(ledger), (), s"its metadata is not sound: $text")
      } yield ledger
    case None => Left(s"its metadata is not understood: $text")
  }

  /** What is in front of the ensembles, the ensembles, and what is behind them. */
  private def parts(text: String): Option[(String, String, Option[String])] = {
    val ensembles = text.indexOf(Ensembles)
    val end       = text.indexOf("]}", ensembles) + 1
    if (!text.startsWith(Begin) || !text.endsWith("}") || ensembles < 0 || end == 0 || end + 1 == text.length) None
    else {
      val head = text.substring(Begin.length, ensembles)
      val all  = text.substring(ensembles + Ensembles.length, end)
      text.substring(end + 1, text.length - 1) match {
        case ""                                                    => Some((head, all, None))
        case rest if rest.startsWith(Custom) && rest.endsWith("}") =>
          Some((head, all, Some(rest.substring(Custom.length, rest.length - 1))))
        case _ => None
      }
    }
  }

  /** `0=[bookie, bookie], 245=[bookie, bookie]`; many ledgers name the same bookies, whose names are kept once. */
  private def parseEnsembles(text: String): Either[String, Seq[(Long, Seq[String])]] = {
    val found = Between.split(text.stripSuffix("]")).toSeq.map(_.split("=", 2)).collect { case Array(first, bookies) =>
      first.toLongOption.getOrElse(-1L) -> Comma.split(bookies.stripPrefix("[")).toSeq.map(_.intern)
    }
    val again = found.map { case (first, bookies) => s"$first=${bookies.mkString("[", ", ", "]")}" }.mkString(", ")
    val plain = found.forall(_._2.forall(_.forall(c => c != '[' && c != ']' && c != '=')))
    Either.cond(again == text && plain, found.sortBy(_._1), s"its ensembles are not understood: $text")
  }

  private def isSound(ledger: BookieLedger): Boolean =
    ledger.ensembles.head._1 == 0 && ledger.ensembles.forall(_._2.size == ledger.ensembleSize) &&
      ledger.ackQuorum >= 1 && ledger.ackQuorum <= ledger.writeQuorum && ledger.writeQuorum <= ledger.ensembleSize

  private def managedLedger(custom: String): Option[String] =
    Comma.split(custom).find(_.startsWith(Owner)).map(pair => new String(Base64.getDecoder.decode(pair.substring(Owner.length)), UTF_8))
}
