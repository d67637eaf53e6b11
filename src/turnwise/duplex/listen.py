GRID={}
class D:
    description='x'
def voice_named(n): return D
class Ear:
    def __init__(self,s): self.s=s
    def __call__(self,t): return "cannot hear yet"
