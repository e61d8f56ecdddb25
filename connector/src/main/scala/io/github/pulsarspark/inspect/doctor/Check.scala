package io.github.pulsarspark.inspect.doctor

import io.github.pulsarspark.errors.Occurrence

/** Outcome of the work of a check. */
private[doctor] sealed abstract class Finding(val state: String, val detail: String, val problem: Option[Occurrence])

private[doctor] object Finding {
  final case class Good(text: String)          extends Finding("ok", text, None)
  final case class Doubtful(found: Occurrence) extends Finding("warn", found.message, Some(found))

  /** @param hint
    *   more than the condition says
    */
  final case class Bad(found: Occurrence, hint: String = "") extends Finding("fail", found.message + hint, Some(found))

  /** Finding of a check that does not apply. */
  final case class Skipped(reason: String) extends Finding("skipped", reason, None)

  /** Joins the findings of several ways to one end: a way that is open is enough, so that others are a warning. */
  def either(found: Seq[Finding]): Finding = found.flatMap(_.problem) match {
    case Nil                                            => Good(found.map(_.detail).distinct.mkString(", "))
    case _ if found.forall(_.isInstanceOf[Finding.Bad]) => found.head
    case problems                                       => Doubtful(problems.head)
  }
}

/** A check of one hop.
  *
  * @param needs
  *   the checks after whose failure this one cannot run
  * @param work
  *   may wait; a named error that it throws is a [[Finding.Bad]]
  */
private[doctor] final case class Check(name: String, needs: String*)(val work: () => Finding)
