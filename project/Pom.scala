import scala.xml.{Elem, Node}

/** The published POM. */
object Pom {

  /** The jar holds everything it needs, so whoever takes it must not fetch what it was built from. */
  val withoutDependencies: Node => Node = {
    case pom: Elem => pom.copy(child = pom.child.filterNot(_.label == "dependencies"))
    case other     => other
  }
}
