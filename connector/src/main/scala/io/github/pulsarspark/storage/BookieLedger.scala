package io.github.pulsarspark.storage

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

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
}

/** Reads the text that the admin API gives for a ledger's metadata (`LedgerMetadata.toSafeString` of BookKeeper). It is no contract, so whatever is not exactly
  * as expected is refused.
  */
private[storage] object BookieLedger {

  private val Whole     = raw"LedgerMetadata\{(.*)\}".r
  private val Ensembles = raw"(.*), ensembles=\{(.*?\])\}(?:, customMetadata=\{(.*)\})?".r
  private val Ensemble  = raw"(\d+)=\[([^\[\]=]+)\]".r
  private val Custom    = raw"([^=, ]+)=base64:([A-Za-z0-9+/=]*)".r

  /** Left with a reason when the text is not understood. */
  def parse(id: Long, text: String): Either[String, BookieLedger] = text match {
    case Whole(Ensembles(head, ensembles, custom)) =>
      val fields = head.split(", ").map(_.split("=", 2)).collect { case Array(key, value) => key -> value }.toMap
      for {
        parsed <- parseEnsembles(ensembles)
        ledger <- Try(BookieLedger(
          id,
          fields("formatVersion").toInt,
          fields("ensembleSize").toInt,
          fields("writeQuorumSize").toInt,
          fields("ackQuorumSize").toInt,
          fields("digestType"),
          parsed,
          Option(custom).flatMap(managedLedger)
        )).toEither.left.map(_ => s"its metadata is not understood: $text")
        _ <- Either.cond(isSound(ledger), (), s"its metadata is not sound: $text")
      } yield ledger
    case _ => Left(s"its metadata is not understood: $text")
  }

  private def parseEnsembles(text: String): Either[String, Seq[(Long, Seq[String])]] = {
    val found = Ensemble.findAllMatchIn(text).map(m => m.group(1).toLong -> m.group(2).split(",").map(_.trim).toSeq).toSeq
    val again = found.map { case (first, bookies) => s"$first=${bookies.mkString("[", ", ", "]")}" }.mkString(", ")
    Either.cond(again == text && found.nonEmpty, found.sortBy(_._1), s"its ensembles are not understood: $text")
  }

  private def isSound(ledger: BookieLedger): Boolean =
    ledger.ensembles.head._1 == 0 && ledger.ensembles.forall(_._2.size == ledger.ensembleSize) &&
      ledger.ackQuorum >= 1 && ledger.ackQuorum <= ledger.writeQuorum && ledger.writeQuorum <= ledger.ensembleSize

  private def managedLedger(custom: String): Option[String] =
    Custom.findAllMatchIn(custom).find(_.group(1) == "pulsar/managed-ledger").map(m =>
      new String(Base64.getDecoder.decode(m.group(2)), UTF_8)
    )
}
