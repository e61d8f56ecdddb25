package io.github.pulsarspark.position

/** The start or the end of a whole read.
  *
  * @param option
  *   the option that it was parsed from, for errors
  */
sealed abstract class BoundSpec { def option: String }

object BoundSpec {

  /** One spec for every topic partition. */
  final case class Everywhere(option: String, spec: PositionSpec) extends BoundSpec

  /** Specs by topic or partition, as the user named them.
    *
    * @param others
    *   for the partitions without one
    * @param isProgress
    *   true for the progress of a stream, which may have read other topics as well
    */
  final case class Each(
      option: String,
      specs: Map[String, PositionSpec],
      others: PositionSpec,
      isProgress: Boolean = false
  ) extends BoundSpec
}
